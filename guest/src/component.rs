use crate::contract::sessions::*;
use crate::contract::{classifier, sessions};
struct Component;
struct S;
impl sessions::Guest for Component {
    type Session = S;
}
impl classifier::Guest for Component {
    fn ask(_s: classifier::Service, _q: Vec<Question>, _b: Budget) -> Vec<Verdict> {
        let h = crate::contract::wasi::http::types::Fields::new();
        let r = crate::contract::wasi::http::types::OutgoingRequest::new(h);
        let f = crate::contract::wasi::http::outgoing_handler::handle(r, None).unwrap();
        f.subscribe().block();
        crate::contract::wasi::clocks::monotonic_clock::now();
        vec![]
    }
}
impl sessions::GuestSession for S {
    fn new() -> S {
        S
    }
    fn configure(&self, _u: String, _p: Option<String>) -> Configuration {
        todo!()
    }
    fn observe(&self, _c: Circumstances) {}
    fn update(&self, _d: Delta) -> Result<(), Error> {
        Ok(())
    }
    fn begin(&self, _p: Phase, _m: Model, _n: u64) -> Result<Option<Inquiry>, Error> {
        Ok(None)
    }
    fn finish(&self, _v: Vec<Verdict>, _e: u32, _t: bool) -> Result<Outcome, Error> {
        todo!()
    }
    fn request(&self, _m: Model, _s: RequestShape, _n: u64) -> Vec<Breakpoint> {
        vec![]
    }
    fn response(&self, _m: String, _u: Usage) {}
    fn recall(&self, _r: RecallRequest) -> Result<Vec<Recalled>, Error> {
        Ok(vec![])
    }
    fn status(&self) -> Vec<Span> {
        vec![]
    }
    fn report(&self, _t: String) -> Result<String, Error> {
        Ok(String::new())
    }
}
crate::contract::export!(Component with_types_in crate::contract);
