public import Foundation
public import Switchyard

/// The operations of ``MockAdminClient`` that a script can answer or make fail.
extension MockOperation where Failure == AuthError, Answer == [ManagedAccount?] {
    public static var findAccounts: Self { Self("find accounts") }
}
extension MockOperation where Failure == AuthError, Answer == AccountPage {
    public static var accountPage: Self { Self("account page") }
}
extension MockOperation where Failure == AuthError, Answer == ManagedAccount {
    public static var createAccount: Self { Self("create account") }
    public static var updateManagedAccount: Self { Self("update managed account") }
}
extension MockOperation where Failure == AuthError, Answer == Bool {
    /// One per account, also for accounts deleted together.
    public static var deleteManagedAccount: Self { Self("delete managed account") }
    public static var endSessions: Self { Self("end sessions") }
}
extension MockOperation where Failure == AuthError, Answer == Secret {
    public static var customToken: Self { Self("custom token") }
}
extension MockOperation where Failure == AuthError, Answer == URL {
    public static var accountLink: Self { Self("account link") }
}
extension MockOperation where Failure == AuthError, Answer == [AuthUser.ID: AuthError] {
    public static var importAccounts: Self { Self("import accounts") }
}
