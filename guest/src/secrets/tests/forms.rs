//! What must be masked: several texts for every form.

use std::sync::LazyLock;

use super::*;

/// Forms by name, with texts in which `§` stands for the secret, and the secrets to try.
fn forms() -> Vec<(&'static str, Vec<String>, Vec<&'static str>)> {
    let token = |prefix: &str, length: usize| format!("{prefix}{}", letters(length));
    let upper = "ABCD1234EFGH5678";
    let tokens: Vec<String> = [
        format!("AKIA{upper}"),
        format!("ASIA{upper}"),
        token("ghp_", 36),
        token("gho_", 36),
        token("ghs_", 36),
        token("github_pat_", 44),
        token("glpat-", 20),
        format!("glpat-{}.01.{}", letters(30), letters(9)),
        token("xoxb-", 24),
        token("xapp-1-", 30),
        token("sk_live_", 24),
        token("rk_test_", 24),
        token("whsec_", 32),
        token("AIza", 35),
        token("ya29.", 40),
        token("GOCSPX-", 28),
        token("npm_", 36),
        token("pypi-", 60),
        token("dckr_pat_", 27),
        token("hf_", 34),
        token("gsk_", 52),
        token("sk-proj-", 40),
        token("sk-ant-api03-", 40),
        token("hvs.", 24),
        format!("SG.{}.{}", letters(22), letters(43)),
        format!("dop_v1_{}", "0a1b".repeat(16)),
        token("shpat_", 32),
        token("lin_api_", 40),
        format!("eyJ{}.eyJ{}.{}", letters(20), letters(30), letters(40)),
        format!("hooks.slack.com/services/T{}/B{}/{}", "00000000A", "00000000B", letters(24)),
    ]
    .into();
    let strong =
        || vec![letters(24), "wJalrXUtnFEMI/K7MDENG+bPxRfiCYzq1w2e3r4=", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"];
    let short = || vec!["hunter2", "tr0ub4dor&3", "p@ssw0rd!", "Sup3r", "123456", "a#b$c%d"];
    let any = || vec!["hunter2", "correcthorsebattery", "p@ss,w(o)rd;1", "tr0ub4dor&3", "whatever-it-is"];
    let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let mut forms = vec![
        (
            "an environment",
            own(&[
                "DB_PASSWORD=§\nNEXT=1",
                "PGPASSWORD=§",
                "MYSQL_PWD=§",
                "export STRIPE_SECRET='§'",
                "export APP_PASSWORD=\"§\"",
                "12:SMTP_PASS=§",
                "     3\tREDIS_PASSWORD=§",
                ".env:3:ADMIN_PASSWORD=§",
                "+MY_SECRET=§",
                "declare -x DB_PASSWORD=\"§\"",
                "ENV DB_PASSWORD=§",
            ]),
            any(),
        ),
        (
            "keys of an environment",
            own(&[
                "export OPENAI_API_KEY=§",
                "SECRET_KEY_BASE=§",
                "API_KEY_2=§",
                "STRIPE_KEY=§",
                "docker run -e API_TOKEN=§ image",
                "AWS_SECRET_ACCESS_KEY=§",
            ]),
            strong(),
        ),
        (
            "JSON",
            own(&[
                r#"{"api_key": "§"}"#,
                r#"{"apiKey":"§","x":1}"#,
                r#"{"client_secret" : "§"}"#,
                r#"{\"api_key\":\"§\"}"#,
                r#"{\\\"token\\\": \\\"§\\\"}"#,
                r#"out: "{\n  \"access_token\": \"§\",\n}""#,
            ]),
            strong(),
        ),
        (
            "passwords in JSON",
            own(&[r#"{"password": "§"}"#, r#"{"password":"§","x":1}"#, r#"{\"passwd\":\"§\"}"#]),
            short(),
        ),
        (
            "code",
            own(&[
                "api_key: str = \"§\"",
                "config[\"api_key\"] = \"§\"",
                "config['apiKey'] = '§';",
                "const apiKey: string = '§';",
                "let api_key: &str = \"§\";",
                "self.token = '§'",
                "apiKey := \"§\"",
                ":secret => '§'",
                "String accessToken = \"§\";",
                "define('AUTH_KEY_TOKEN', '§');",
                "os.environ[\"X_TOKEN\"] = \"§\"",
                "$env:API_KEY = \"§\"",
            ]),
            strong(),
        ),
        (
            "passwords in code",
            own(&[
                "password = \"§\"",
                "password: '§',",
                "db_password := `§`",
                "conn(password='§')",
                "define('DB_PASSWORD', '§');",
            ]),
            vec!["hunter2", "tr0ub4dor&3", "p@ssw0rd!", "Sup3r"],
        ),
        (
            "YAML",
            own(&[
                "  client_secret: §\n",
                "api_key: §",
                "- token: § # mine",
                "config.yml:4:  api_key: §",
                "    12\t  secret: §",
            ]),
            strong(),
        ),
        (
            "passwords in YAML",
            own(&["password: §", "  password: \"§\"", "a.yml-3-  password: §", "db_password: '§'"]),
            vec!["hunter2", "tr0ub4dor&3", "p@ssw0rd!", "123456"],
        ),
        ("INI", own(&["aws_secret_access_key = §", "api_key = §\nx = 1", "token=§", "secret = §"]), strong()),
        (
            "passwords in INI",
            own(&["[db]\npassword = §", "password=§", "smtp_password = §\n"]),
            vec!["hunter2", "tr0ub4dor&3", "p@ssw0rd!", "123456"],
        ),
        (
            "pairs of a name and a value",
            own(&[
                "- name: X_TOKEN\n  value: §",
                "  - name: DB_PASSWORD\n    value: \"§\"",
                r#"{"name": "DB_PASSWORD", "value": "§"}"#,
                r#"<add key="ApiKey" value="§" />"#,
            ]),
            vec!["hunter2", letters(24), "tr0ub4dor3"],
        ),
        (
            "URLs",
            own(&[
                "GET /x?access_token=§&y=1",
                "https://a.example/?y=1&api_key=§",
                "https://a.example/?token=§#top",
            ]),
            vec![letters(24), "0f1e2d3c4b5a6978"],
        ),
        (
            "passwords in URLs",
            own(&[
                "DATABASE_URL=postgres://app:§@db.internal:5432/app",
                "redis://:§@cache",
                "https://user:§@a.example/x",
                "mongodb+srv://me:§@h",
                "HTTPS://me:§@h",
            ]),
            vec!["hunter2hunter2", "p@ss,word", "opensesame", "x;y)z"],
        ),
        (
            "users in URLs",
            own(&["git clone https://§@github.com/a/b", "https://§:x-oauth-basic@github.com/a"]),
            vec![letters(24), "0f1e2d3c4b5a6978"],
        ),
        (
            "options",
            own(&[
                "cli --token=§ run",
                "cli --api-key § run",
                "cli --client-secret '§'",
                "cli \\\n  --api-key \"§\" \\\n  run",
                "{\"command\":\"cli --token \\\"§\\\"\"}",
            ]),
            strong(),
        ),
        (
            "passwords in options",
            own(&[
                "cli --password § run",
                "cli --password=§",
                "mysqldump --password=§ db",
                "cli --db-password '§'",
            ]),
            vec!["hunter2", "tr0ub4dor3", "p@ssw0rd!x", "123456"],
        ),
        (
            "headers",
            own(&[
                "X-Api-Key: §",
                "curl -H 'X-Api-Key: §' https://a.example",
                "PRIVATE-TOKEN: §",
                "curl -H \"X-Auth-Token: §\"",
                "< x-vault-token: §",
                "Authorization: §",
                "Authorization: Bearer §",
                r#"-H "Authorization: Bearer §" x"#,
                "authorization: Basic §",
                r#""Authorization": "token §""#,
                r#"{\"Authorization\":\"§\"}"#,
                "logged Bearer §",
            ]),
            vec![letters(24), "0f1e2d3c4b5a69788796a5b4c3d2e1f0"],
        ),
        (
            "cookies",
            own(&[
                "> Cookie: session=§; theme=dark",
                "Set-Cookie: sid=§; Path=/; HttpOnly",
                "log.txt:12:Set-Cookie: PHPSESSID=§; Path=/",
                "curl -b 'session=§' https://a.example",
                "curl --cookie \"auth_token=§; x=y\" u",
                "cookie: theme=dark; connect.sid=§",
            ]),
            vec!["abc123", letters(32)],
        ),
        (
            "curl",
            own(&[
                "curl -s -u admin:§ https://a.example",
                "curl -u 'admin:§' x",
                "curl -s \\\n  -X POST \\\n  --user admin:§ \\\n  https://a.example",
                "curl -uadmin:§ x",
                "curl -su admin:§ x",
            ]),
            vec!["opensesame9", "opensesame", "p@ss!w"],
        ),
        (
            "sshpass and mysql",
            own(&[
                "sshpass -p '§' ssh h",
                "sshpass -p§ ssh h",
                "sshpass -p \"§\" ssh h",
                "mysql -u root -p§ db",
            ]),
            vec!["hunter2", "tr0ub4dor3"],
        ),
        (
            "netrc",
            own(&[
                "machine h login me password §",
                "machine h\n  login me\n  password §",
                "machine h login me password §\nmachine i",
            ]),
            vec!["hunter2", "opensesame", "p@ss!w"],
        ),
        (
            "libpq and connection strings",
            own(&[
                "host=h dbname=d user=u password=§",
                "psql \"host=h password=§ user=u\"",
                "password=§ host=h",
                "Server=s;Database=d;User Id=u;Password=§;Encrypt=true",
                "Server=s;Pwd=§",
            ]),
            vec!["hunter2", "opensesame", "p@ss!w"],
        ),
        (
            "account keys",
            own(&[
                "AccountName=a;AccountKey=§;EndpointSuffix=x",
                "\"Endpoint=sb://x/;SharedAccessKeyName=r;SharedAccessKey=§\"",
            ]),
            vec!["wJalrXUtnFEMI/K7MDENG+bPxRfiCYzq1w2e3r4="],
        ),
        (
            "XML",
            own(&[
                "<password>§</password>",
                "  <server><password>§</password></server>",
                "a.xml:3:<dbPassword>§</dbPassword>",
            ]),
            vec!["hunter2", "opensesame", "p@ss!w"],
        ),
        (
            "SQL",
            own(&[
                "CREATE USER 'a'@'%' IDENTIFIED BY '§';",
                "ALTER USER a IDENTIFIED WITH mysql_native_password BY '§'",
                "CREATE ROLE a LOGIN PASSWORD '§';",
                "alter user a with password '§';",
                "SET PASSWORD FOR 'a'@'h' = PASSWORD('§');",
            ]),
            vec!["hunter2", "opensesame", "p@ss!w x"],
        ),
    ];
    for token in tokens {
        let texts = [
            "key: § here",
            "\"§\"",
            "x=§",
            "§",
            "say §.",
            "a\\n§\\nb",
            "\x1b[32m§\x1b[0m",
            "\\u001b[1;32m§",
            "https://a.example/%20§",
            "[§]",
            "`§`,",
        ];
        forms.push(("tokens of services", own(&texts), vec![&*Box::leak(token.into_boxed_str())]));
    }
    forms
}

/// Texts with the secret that must not leave.
pub(super) fn secrets() -> Vec<(&'static str, String, &'static str)> {
    let texts = |(form, texts, secrets): (&'static str, Vec<String>, Vec<&'static str>)| {
        let pairs: Vec<_> = texts
            .into_iter()
            .flat_map(|text| secrets.iter().map(move |secret| (text.clone(), *secret)).collect::<Vec<_>>())
            .collect();
        pairs.into_iter().map(move |(text, secret)| (form, text.replace('§', secret), secret))
    };
    forms().into_iter().flat_map(texts).collect()
}

#[test]
fn b40_secrets_of_every_listed_form_are_masked() {
    let leaks: Vec<String> = secrets()
        .into_iter()
        .filter_map(|(form, text, secret)| {
            let masked = masked(&text);
            let expected = text.replace(secret, "‹secret 1›");
            let twice = super::masked(&masked);
            (masked != expected || twice != masked).then(|| format!("{form}: {text:?} -> {masked:?}"))
        })
        .collect();
    assert!(leaks.is_empty(), "{} of {}:\n{}", leaks.len(), secrets().len(), leaks.join("\n"));
}

proptest! {
    #[test]
    fn a_secret_is_found_wherever_it_stands(before in "[a-z ,.]{0,40}", after in "[a-z ,.]{0,40}", at in any::<prop::sample::Index>()) {
        static ALL: LazyLock<Vec<(&str, String, &str)>> = LazyLock::new(secrets);
        let (_, text, secret) = at.get(&ALL);
        let masked = masked(&format!("{before}\n{text}\n{after}"));
        prop_assert!(!masked.contains(secret), "{}", masked);
    }
}

#[test]
fn a_token_that_is_cut_is_told_by_the_mark_of_the_cut() {
    for text in ["bash `deploy ghp_a1B2c3D4e5…`", "x glpat-a1B2c3D4... [truncated]", "AKIA12ABCD…"] {
        assert!(masked(text).contains("‹secret 1›"), "{text}");
    }
    assert_eq!(masked("the prefix ghp_… and sk-..."), "the prefix ghp_… and sk-...");
}

#[test]
fn long_values_are_masked_to_their_end() {
    let long = letters(64).repeat(100);
    for text in [
        format!("APP_SECRET={long}"),
        format!("secret = \"{long}\""),
        format!("secret: {long}\nnext"),
        format!("npm_{long}"),
    ] {
        assert!(!masked(&text).contains("a1B2c3"), "{}", masked(&text));
    }
}

/// In Python and C# these letters can stand before a quote, and are then no part of the value.
#[test]
fn letters_that_open_a_string_elsewhere_are_masked_with_the_value() {
    assert_eq!(masked("DB_PASSWORD=burger99x"), "DB_PASSWORD=‹secret 1›");
    assert_eq!(masked("DB_PASSWORD=ubuntu99x"), "DB_PASSWORD=‹secret 1›");
    assert_eq!(masked("password = b'burger99x'"), "password = b'‹secret 1›'");
}
