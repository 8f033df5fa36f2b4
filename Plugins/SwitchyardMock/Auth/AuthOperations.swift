public import Switchyard

/// The operations of ``MockAuthClient`` that a script can answer or make fail.
extension MockOperation where Failure == AuthError, Answer == SignUpResult {
    public static var signUp: Self { Self("sign up") }
}
extension MockOperation where Failure == AuthError, Answer == AuthUser {
    public static var signIn: Self { Self("sign in") }
    public static var answerChallenge: Self { Self("answer second factor") }
    public static var link: Self { Self("link") }
    public static var unlink: Self { Self("unlink") }
    public static var confirmSecondFactor: Self { Self("confirm second factor") }
    public static var removeSecondFactor: Self { Self("remove second factor") }
    public static var updateAccount: Self { Self("update account") }
    public static var reloadUser: Self { Self("reload user") }
}
extension MockOperation where Failure == AuthError, Answer == BrowserSignIn {
    public static var beginBrowserSignIn: Self { Self("begin browser sign-in") }
}
extension MockOperation where Failure == AuthError, Answer == PhoneVerification {
    public static var sendPhoneCode: Self { Self("send phone code") }
}
extension MockOperation where Failure == AuthError, Answer == SecondFactorEnrollment {
    public static var beginSecondFactor: Self { Self("begin second factor") }
}
extension MockOperation where Failure == AuthError, Answer == AccessToken {
    /// A refresh. A valid token needs none.
    public static var refreshToken: Self { Self("refresh token") }
}
extension MockOperation where Failure == AuthError, Answer == Bool {
    public static var resendConfirmation: Self { Self("resend confirmation") }
    public static var sendEmailLink: Self { Self("send e-mail link") }
    public static var sendPasswordReset: Self { Self("send password reset") }
    public static var resetPassword: Self { Self("reset password") }
    public static var reauthenticate: Self { Self("reauthenticate") }
    public static var deleteAccount: Self { Self("delete account") }
    public static var signOut: Self { Self("sign out") }
}
