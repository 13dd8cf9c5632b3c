async fn render(id: u64, mut name: String) -> Result<String, AppError> {
    static __WT_SITE: ::watertight::__private::Site = ::watertight::__private::Site::of(
        "render",
        ::core::module_path!(),
        ::core::file!(),
        ::core::line!(),
        [
            ::watertight::__private::Setting::Timeout(2000000000u64),
            ::watertight::__private::Setting::Isolate(
                ::watertight::__private::isolate::Config::new("reports", 4u32)
                    .queue(8u32),
            ),
        ],
    );
    ::watertight::__private::list!(__WT_SITE);
    let mut __wt_call = ::core::pin::pin!(
        ::watertight::__private::Call::begin(& __WT_SITE)
    );
    let __wt_end = loop {
        let __wt_seat = match ::watertight::__private::enter(&mut __wt_call).await {
            ::watertight::__private::Entered::Seat(__wt_seat) => __wt_seat,
            ::watertight::__private::Entered::Refused => {
                break ::watertight::__private::End::Refused;
            }
            ::watertight::__private::Entered::Again => continue,
        };
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
        break ::watertight::__private::once(&mut __wt_call, __wt_body, __wt_kind).await;
    };
    ::watertight::__private::answer(
        __wt_call.as_mut(),
        ::core::convert::identity(__wt_end),
    )
}
