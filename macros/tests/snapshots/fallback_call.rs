async fn get(
    name: String,
    mut page: u32,
    #[cfg(test)]
    other: Body,
) -> Result<Vec<u8>, AppError> {
    static __WT_SITE: ::watertight::__private::Site = ::watertight::__private::Site::of(
        "get",
        ::core::module_path!(),
        ::core::file!(),
        ::core::line!(),
        [
            ::watertight::__private::Setting::Timeout(300000000u64),
            ::watertight::__private::Setting::FallsBack,
        ],
    );
    ::watertight::__private::list!(__WT_SITE);
    let mut __wt_call = ::core::pin::pin!(
        ::watertight::__private::Call::begin(& __WT_SITE)
    );
    let __wt_end = {
        let __wt_body = ::core::pin::pin!(
            ::core::option::Option::Some(async { #[cfg(test)]
            #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
            let mut other = other; if let ::core::option::Option::Some(__wt_return) =
            ::core::option::Option::None:: < Result < Vec < u8 >, AppError > > { return
            __wt_return; } '__wt_body : { load(& name, page). await } })
        );
        let __wt_kind = {
            use ::watertight::__private::kinds::Choice as _;
            (&&&&&::watertight::__private::Returned::by(&__wt_body)).__wt_kind()
        };
        ::watertight::__private::once(&mut __wt_call, __wt_body, __wt_kind).await
    };
    let (__wt_kind, __wt_failure) = {
        use ::watertight::__private::kinds::Choice as _;
        let __wt_end = __wt_end;
        let __wt_kind = (&&&&&::watertight::__private::Returned::of(&__wt_end))
            .__wt_kind();
        match ::watertight::__private::settle(&__wt_kind, &mut __wt_call, __wt_end) {
            ::core::result::Result::Ok(__wt_whole) => return __wt_whole,
            ::core::result::Result::Err(__wt_failure) => (__wt_kind, __wt_failure),
        }
    };
    ::watertight::__private::fall_back(
            __wt_kind,
            &mut __wt_call,
            __wt_failure,
            || stale(&name, page),
        )
        .await
}
