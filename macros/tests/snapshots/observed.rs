async fn quote(id: u64, mut name: String) -> Result<String, AppError> {
    static __WT_SITE: ::watertight::__private::Site = ::watertight::__private::Site::of(
        "quote",
        ::core::module_path!(),
        ::core::file!(),
        ::core::line!(),
        [
            ::watertight::__private::Setting::Timeout(300000000u64),
            ::watertight::__private::Setting::Tail(
                ::watertight::__private::tail::Config::new(0.02f64).runs(4u32),
            ),
            ::watertight::__private::Setting::Idempotent,
        ],
    );
    ::watertight::__private::list!(__WT_SITE);
    let mut __wt_call = ::core::pin::pin!(
        ::watertight::__private::Call::begin(& __WT_SITE)
    );
    let __wt_tail = ::watertight::__private::tail_of(&__wt_call);
    let __wt_end = {
        let mut __wt_body = ::core::pin::pin!(
            ::core::option::Option::Some(::watertight::__private::observed(__wt_tail,
            async move { if let ::core::option::Option::Some(__wt_return) =
            ::core::option::Option::None:: < Result < String, AppError > > { return
            __wt_return; } '__wt_body : { load(id, name). await } }))
        );
        let __wt_kind = {
            use ::watertight::__private::kinds::Choice as _;
            (&&&&&::watertight::__private::Returned::by(&__wt_body)).__wt_kind()
        };
        ::watertight::__private::judged(
            __wt_body.as_mut(),
            ::watertight::__private::errors_of(&__wt_kind),
        );
        ::watertight::__private::once(&mut __wt_call, __wt_body, __wt_kind).await
    };
    ::watertight::__private::answer(
        __wt_call.as_mut(),
        ::core::convert::identity(__wt_end),
    )
}
