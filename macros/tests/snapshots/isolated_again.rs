async fn render(id: u64, name: String) -> Result<String, AppError> {
    static __WT_SITE: ::watertight::__private::Site = ::watertight::__private::Site::of(
        "render",
        ::core::module_path!(),
        ::core::file!(),
        ::core::line!(),
        [
            ::watertight::__private::Setting::Isolate(
                ::watertight::__private::isolate::Config::join("reports"),
            ),
            ::watertight::__private::Setting::Retries(1u32),
            ::watertight::__private::Setting::FallsBack,
        ],
    );
    ::watertight::__private::list!(__WT_SITE);
    let mut __wt_call = ::core::pin::pin!(
        ::watertight::__private::Call::begin(& __WT_SITE)
    );
    let mut __wt_given_name = ::watertight::__private::Given::new(name);
    let __wt_end = loop {
        let __wt_seat = match ::watertight::__private::enter(&mut __wt_call).await {
            ::watertight::__private::Entered::Seat(__wt_seat) => __wt_seat,
            ::watertight::__private::Entered::Refused => {
                break ::watertight::__private::End::Refused;
            }
            ::watertight::__private::Entered::Again => continue,
        };
        #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
        let mut name = __wt_given_name.give_if(false);
        let __wt_body = ::core::pin::pin!(
            ::core::option::Option::Some(::watertight::__private::isolated(__wt_seat,
            async move { if let ::core::option::Option::Some(__wt_return) =
            ::core::option::Option::None:: < Result < String, AppError > > { return
            __wt_return; } '__wt_body : { load(id, name). await } }))
        );
        let __wt_kind = {
            use ::watertight::__private::kinds::Choice as _;
            (&&&&&::watertight::__private::Returned::by(&__wt_body)).__wt_kind()
        };
        if let ::core::option::Option::Some(__wt_end) = ::watertight::__private::attempt(
                &mut __wt_call,
                __wt_body,
                __wt_kind,
            )
            .await
        {
            break __wt_end;
        }
    };
    #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
    let name = __wt_given_name.left();
    let _ = &name;
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
    let __wt_fallback = ::watertight::__private::with_failure(
        &__wt_kind,
        |failure| format!("{name}: {failure}"),
    );
    ::watertight::__private::fall_back(
            __wt_kind,
            &mut __wt_call,
            __wt_failure,
            __wt_fallback,
        )
        .await
}
