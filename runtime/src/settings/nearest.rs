//! What a misspelt word was meant to be.

/// The known word that is most like it, if any is like it at all.
#[cfg(any(feature = "settings", feature = "testing"))]
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const ALIKE: f64 = 0.75;
    let last = |path: &str| path.rsplit("::").next().unwrap_or_default().to_owned();
    let likeness = |other: &str| {
        let whole = strsim::jaro_winkler(word, other);
        // A function's name counts for more than the modules around it.
        if other.contains("::") { whole.max(strsim::jaro_winkler(&last(word), &last(other))) } else { whole }
    };
    let all = known.into_iter().map(|other| (likeness(other), other));
    all.filter(|(alike, _)| *alike >= ALIKE).max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, other)| other)
}

/// Nothing without the library that tells.
#[cfg(not(any(feature = "settings", feature = "testing")))]
pub(super) fn nearest<'a>(_: &str, _: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    None
}

/// "did you mean", and what else to do.
pub(super) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    match nearest(word, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => otherwise.to_owned(),
    }
}
