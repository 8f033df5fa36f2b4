public import Foundation

// What other libraries call things. The compiler answers with the call to use; `.ci/names` checks that it does.
//
// No body ever runs: the compiler refuses every call, and as members of an extension these witness no requirement. `.ci/names`
// fails if one of them can be called.

extension AuthClient {
    @available(*, unavailable, message: "use signIn(email:password:)")
    public func signIn(withEmail email: String, password: String) { fatalError() }

    @available(*, unavailable, message: "use signUp(email:password:)")
    public func createUser(withEmail email: String, password: String) { fatalError() }
    @available(*, unavailable, message: "use signUp(email:password:)")
    public func createUser(email: String, password: String) { fatalError() }

    @available(*, unavailable, message: "use changePassword(to:)")
    public func updatePassword(to password: String) { fatalError() }
    @available(*, unavailable, message: "use changePassword(to:)")
    public func updatePassword(_ password: String) { fatalError() }

    @available(*, unavailable, message: "use changeEmail(to:)")
    public func updateEmail(to email: String) { fatalError() }
    @available(*, unavailable, message: "use changeEmail(to:)")
    public func updateEmail(_ email: String) { fatalError() }

    @available(*, unavailable, message: "use updateAccount(_:) with AccountChanges")
    public func updateProfile(displayName: String? = nil, photoURL: URL? = nil) { fatalError() }

    @available(*, unavailable, message: "use sendPasswordReset(to:)")
    public func resetPassword(email: String) { fatalError() }
    @available(*, unavailable, message: "use sendPasswordReset(to:)")
    public func resetPasswordForEmail(_ email: String) { fatalError() }
    @available(*, unavailable, message: "use sendPasswordReset(to:)")
    public func sendPasswordReset(withEmail email: String) { fatalError() }
}
