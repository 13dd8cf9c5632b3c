/// Documented.
pub async fn recommendations(user: UserId) -> Result<Vec<Rec>, AppError> {
    static __WT_SITE: ::watertight::__private::Site = ::watertight::__private::Site::of(
        "recommendations",
        ::core::module_path!(),
        ::core::file!(),
        ::core::line!(),
        [
            ::watertight::__private::Setting::Timeout(300000000u64),
            ::watertight::__private::Setting::Slots("recs", 8u32, 16u32),
            ::watertight::__private::Setting::Retries(2u32),
            ::watertight::__private::Setting::FallsBack,
        ],
    );
    ::watertight::__private::list!(__WT_SITE);
    let mut __wt_call = ::core::pin::pin!(
        ::watertight::__private::Call::begin(& __WT_SITE)
    );
    let mut __wt_given_user = ::watertight::__private::Given::new(user);
    loop {
        #[allow(clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)]
        let user = __wt_given_user.give(&__wt_call);
        let __wt_body = ::core::pin::pin!(
            ::core::option::Option::Some(async move { if let
            ::core::option::Option::Some(__wt_return) = ::core::option::Option::None:: <
            Result < Vec < Rec >, AppError > > { return __wt_return; } '__wt_body : {
            fetch(user). await } })
        );
        let __wt_kind = {
            use ::watertight::__private::kinds::Choice as _;
            (&&&&&::watertight::__private::Returned::by(&__wt_body)).__wt_kind()
        };
        if let ::core::option::Option::Some(__wt_whole) = ::watertight::__private::attempt_or(
                &mut __wt_call,
                __wt_body,
                __wt_kind,
                empty_vec,
            )
            .await
        {
            break __wt_whole;
        }
    }
}
