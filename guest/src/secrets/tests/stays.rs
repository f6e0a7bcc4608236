//! What must not be masked.

use super::*;

const STAYS: &[&str] = &[
    // names and calls in code
    "AUTHOR=Jane Doe",
    "let apiKey = getKey();",
    "apiKey = getKey()",
    "let token = next_token();",
    "let token = tokens[2];",
    "token = self.tokens2",
    "password = input2",
    "let password = hash2;",
    "password = user.password",
    "connect(user=user1, password=password1)",
    "login(user, password=pwd1)",
    r#"const API_KEY_ENV: &str = "OPENROUTER_API_KEY";"#,
    r#"std::env::var("API_KEY")"#,
    r#"os.environ.get("API_KEY", "")"#,
    "if token == other_token { return; }",
    "if(a&&token===null12345&&b)return",
    "let apiKey=provider2.auth.apiKey;if(!apiKey)return;",
    "const WIDTH_STORAGE_KEY = 'share:v1:sidebar-width'",
    r#"if token == "abc12345" {"#,
    "token: string",
    "token: u64, secret: Vec<u8>,",
    "password: String,",
    "uint256 password; password: uint256",
    "API_KEY: process.env.API_KEY2,",
    "token: response.data.token1,",
    "{ token: token1, secret: secret2 }",
    "fn secret(key: &str, token: Token1) -> Key2 {",
    r#"<input type="password" name="password" id="password1">"#,
    r##"$("#password").val()"##,
    r##"password: "#password-input2""##,
    // words and rules in their place
    r#"password: "required""#,
    r#""password": "min:8|max:20""#,
    r#""password": "required|string|min:8""#,
    r#""password": "Enter your password!""#,
    r#""password": "Passwort""#,
    r#""token": "access_token""#,
    r#"<label>Password</label><password></password>"#,
    r#""password": "user1@example.com""#,
    r#"AUTH_TOKEN="auth-token""#,
    "API_KEY=your_key_here",
    "PASSWORD=<your password>",
    "TOKEN=****",
    "Authorization: none",
    "authorization: required for this route",
    // references
    "API_KEY=$OPENROUTER_API_KEY",
    "API_KEY=${OPENROUTER_API_KEY}",
    "API_KEY=\"$(cat key2)\"",
    "API_KEY=os.environ[\"API_KEY2\"]",
    "API_KEY=process.env.API_KEY2",
    "TOKEN=getToken2()",
    "token: ${{ secrets.NPM_TOKEN2 }}",
    "password: {{ vault_password2 }}",
    "postgres://app:$PASSWORD@db/app",
    "Authorization: Bearer $TOKEN",
    "curl -u $USER:$PASSWORD https://a.example",
    "--password $PASSWORD2 --token <TOKEN>",
    // settings that are no secrets
    "MAX_TOKEN=4096",
    "TOKEN=4096",
    "SORT_KEY=created_at",
    "PRIMARY_KEY=user_id",
    "CACHE_KEY=users:v2:list123",
    "PARTITION_KEY=tenant_12345",
    "SSH_PUBLIC_KEY=ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ me@host",
    "PUBLIC_KEY=ssh-ed25519",
    "SSL_KEY=/path/to/key1",
    "SSL_KEY=certs/server1.pem",
    "PRIVATE_KEY=./keys/id_rsa2",
    "MONKEY=banana1",
    "KEYBOARD=qwerty12",
    "PWD=/home/me/project2",
    "PASSWORD_FILE=/run/secrets/db1",
    r#""next_page_token": "CAUQAA12345""#,
    "?page_token=CAUQAA12345678",
    "eos_token: token_12345678",
    r#"key = "users12345678""#,
    "bypass=true1",
    // help
    "  --password string   the password to use",
    "  --token TOKEN       the token",
    "Use --password to set it, --api-key for the other",
    "--token-file /run/token1 --key-path x1",
    // what only looks random
    "commit 5f9ae58c0ffee5f9ae58c0ffee5f9ae58c0ffee5",
    "id 123e4567-e89b-12d3-a456-426614174000",
    r#"checksum = "1b2c3d4e5f60718293a4b5c6d7e8f9001b2c3d4e5f60718293a4b5c6d7e8f900""#,
    r#""integrity": "sha512-abc123def456ghi789jkl012mno345pqr678stu901vwx234yz==""#,
    "pip install sk-learn-contrib-extras-package",
    "disk-a1B2c3D4e5F6g7H8i9J0k1L2",
    // addresses
    "https://a.example:8080/path@2",
    "http://localhost:3000,me@host",
    "https://me@a.example/x",
    "ssh://git@github.com/a/b1",
    "https://registry.npmjs.org/@scope/name",
    // cookies and mentions
    "The cookie: a short story",
    "Set-Cookie: theme=dark; Path=/",
    "Cookie: theme=dark; lang=en-US",
    "curl -b cookies.txt https://a.example",
    "the login password was changed",
    "identified by its name, and a PASSWORD column",
];

#[test]
fn b40_what_only_looks_like_a_secret_stays() {
    let wrong: Vec<String> = STAYS
        .iter()
        .filter(|text| masked(text) != **text)
        .map(|text| format!("{text:?} -> {:?}", masked(text)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What cannot be told apart from a secret, or from what is none. A change here is one for the documentation.
#[test]
fn known_gaps() {
    // A word may be a password or a label.
    assert_eq!(masked("password: opensesame"), "password: opensesame");
    assert_eq!(masked("--password opensesame"), "--password opensesame");
    // So may words with spaces.
    assert_eq!(masked(r#"password = "correct horse 9""#), r#"password = "correct horse 9""#);
    // The middle of a key without its first and its last line.
    assert_eq!(masked(&key_lines(4).join("\n")), key_lines(4).join("\n"));
    // A variable that is named like a token.
    assert_eq!(masked("api_key = client12345"), "api_key = ‹secret 1›");
    assert_eq!(masked("FEATURE_TOKEN=some-name"), "FEATURE_TOKEN=‹secret 1›");
}
