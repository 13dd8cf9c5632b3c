/// Documented.
pub async fn recommendations(user: UserId) -> Result<Vec<Rec>, AppError> {
    static __WT_SITE: ::watertight::__private::Site = ::watertight::__private::Site::new(
        ::watertight::__private::Declaration::new(
                "recommendations",
                ::core::module_path!(),
                ::core::file!(),
                ::core::line!(),
            )
            .timeout(::watertight::__private::timeout::Config::new(300000000u64))
            .bulkhead(
                ::watertight::__private::bulkhead::Config::new("recs", 8u32).queue(16u32),
            )
            .retry(::watertight::__private::retry::Config::new(2u32))
            .fallback(::watertight::__private::fallback::Config::new()),
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
            use ::watertight::__private::kinds::*;
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
