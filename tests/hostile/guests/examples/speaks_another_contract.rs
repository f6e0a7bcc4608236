//! Was built against a contract of another version.

wit_bindgen::generate!({
    inline: "
        package context-guard:guard@9.0.0;
        interface sessions { version: func() -> u32; }
        world guard { export sessions; }
    ",
    world: "context-guard:guard/guard",
});

struct Component;

impl exports::context_guard::guard::sessions::Guest for Component {
    fn version() -> u32 {
        9
    }
}

export!(Component);
