//! The page, as it is served: nothing is built, nothing is fetched from elsewhere.

/// The markup. `{{base}}` is where its parts are, `{{token}}` whether anything can be changed, `{{first}}` the wall as
/// it is when the page is asked for, `{{given}}` one function if it was asked for.
pub(super) const PAGE: &str = include_str!("page/page.html");

macro_rules! parts {
    ($($name:literal: $kind:expr;)+) => {
        /// A part of the page by name: its kind, and its text.
        pub(super) fn find(name: &str) -> Option<(&'static str, &'static str)> {
            match name {
                $($name => Some(($kind, include_str!(concat!("page/", $name)))),)+
                _ => None,
            }
        }
    };
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

parts! {
    "style.css": STYLE;
    "icon.svg": PICTURE;
    "app.js": SCRIPT;
    "dom.js": SCRIPT;
    "format.js": SCRIPT;
    "charts.js": SCRIPT;
    "wall.js": SCRIPT;
    "function.js": SCRIPT;
    "panels.js": SCRIPT;
    "picker.js": SCRIPT;
    "control.js": SCRIPT;
    "compare.js": SCRIPT;
    "groups.js": SCRIPT;
}
