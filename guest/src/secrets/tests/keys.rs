//! Private keys, whole and in part, however they are printed.

use super::*;

/// Returns whether nothing of a key's lines is left.
fn hidden(masked: &str, count: usize) -> bool {
    key_lines(count).iter().all(|line| !masked.contains(&line[..20]))
}

#[test]
fn b40_private_keys_are_masked_line_by_line() {
    let whole = format!("cat id\n{}\ndone", private_key(3));
    let expected = "cat id\n-----BEGIN RSA PRIVATE KEY-----\n‹secret 1›\n‹secret 1›\n‹secret 1›\n-----END RSA PRIVATE KEY-----\ndone";
    assert_eq!(masked(&whole), expected);
}

#[test]
fn a_key_without_its_end_or_its_beginning_is_masked() {
    let key = private_key(12);
    let begin = key.rsplit_once('\n').unwrap().0;
    let end = key.split_once('\n').unwrap().1;
    let half: Vec<&str> = key.lines().take(6).collect();
    for part in [begin, end, &half.join("\n")] {
        assert!(hidden(&masked(part), 12), "{}", masked(part));
        assert!(hidden(&masked(&format!("a\n{part}\nfn main() {{}}\n")), 12));
        assert!(masked(&format!("a\n{part}\nfn main() {{}}\n")).ends_with("\nfn main() {}\n"));
    }
}

#[test]
fn what_a_tool_puts_before_the_lines_of_a_key_stays() {
    let key = private_key(8);
    let numbered = |form: &dyn Fn(usize, &str) -> String| -> String {
        key.lines().enumerate().map(|(at, line)| form(at + 1, line) + "\n").collect()
    };
    let printed = [
        numbered(&|at, line| format!("{at:6}\t{line}")),
        numbered(&|at, line| format!("{at:>4}| {line}")),
        numbered(&|at, line| format!("{at}: {line}")),
        numbered(&|at, line| format!("keys/id_rsa:{at}:{line}")),
        numbered(&|at, line| format!("keys/id_rsa-{at}-{line}")),
        numbered(&|_, line| format!("keys/id_rsa:{line}")),
        numbered(&|_, line| format!("+{line}")),
        numbered(&|_, line| format!("-{line}")),
        numbered(&|_, line| format!("    {line}")),
        numbered(&|_, line| format!("> {line}")),
        numbered(&|_, line| format!("{line}\r")),
        numbered(&|_, line| format!("  \"{line}\\n\" +")),
        numbered(&|_, line| format!("  '{line}',")),
    ];
    for text in printed {
        let whole = masked(&text);
        assert!(hidden(&whole, 8), "{whole}");
        let end: String = text.lines().skip(3).map(|line| format!("{line}\n")).collect();
        assert!(hidden(&masked(&end), 8), "{}", masked(&end));
        let begin: String = text.lines().take(5).map(|line| format!("{line}\n")).collect();
        assert!(hidden(&masked(&begin), 8), "{}", masked(&begin));
    }
    let cat = numbered(&|at, line| format!("{at:6}\t{line}"));
    assert!(masked(&cat).contains("     3\t‹secret 1›\n     4\t‹secret 1›\n"), "{}", masked(&cat));
    assert_eq!(masked(&cat).matches("secret 1").count(), 8);
}

#[test]
fn keys_on_one_line_are_masked() {
    let key = private_key(6);
    for text in [
        format!(r#"{{"private_key": "{}\n", "x": 1}}"#, key.replace('\n', "\\n")),
        format!(r#"{{\"private_key\": \"{}\"}}"#, key.replace('\n', "\\\\n")),
        format!("KEY=\"{}\"", key.replace('\n', "\\r\\n")),
        format!("KEY=\"{}\"", key.replace('\n', " ")),
        key.replace("KEY-----\n", "KEY-----").replace("\n-----END", "-----END").replace('\n', ""),
    ] {
        assert!(hidden(&masked(&text), 6), "{}", masked(&text));
    }
}

#[test]
fn other_sorts_of_keys_are_masked() {
    let lines = key_lines(4).join("\n");
    for text in [
        format!(
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n{lines}\n-----END RSA PRIVATE KEY-----"
        ),
        format!(
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{lines}\n=ab12\n-----END PGP PRIVATE KEY BLOCK-----"
        ),
        format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{lines}\n-----END OPENSSH PRIVATE KEY-----"),
        format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", key_lines(2)[0]),
    ] {
        assert!(hidden(&masked(&text), if text.contains("PGP") { 4 } else { 1 }), "{}", masked(&text));
    }
}

#[test]
fn what_only_mentions_a_key_stays() {
    let certificate = private_key(4).replace("RSA PRIVATE KEY", "CERTIFICATE");
    let stays = [
        "if text.contains(\"-----BEGIN PRIVATE KEY-----\") {\n    return true;\n}\nlet x = 1 - 2;\nfn f() {}\n".to_owned(),
        "-----BEGIN PRIVATE KEY-----\nsome words\nmore\n".to_owned(),
        "-----BEGIN PRIVATE KEY-----\n\n\ndone\nabcdefgh\n".to_owned(),
        "the last line is\ncode\n-----END PRIVATE KEY-----\n".to_owned(),
        "const BEGIN: &str = \"-----BEGIN PRIVATE KEY-----\";\nconst END: &str = \"-----END PRIVATE KEY-----\";\n".to_owned(),
        "grep -rn 'PRIVATE KEY' .\nsrc/a.rs:1:PRIVATE KEY".to_owned(),
        certificate,
    ];
    for text in stays {
        assert_eq!(masked(&text), text);
    }
}
