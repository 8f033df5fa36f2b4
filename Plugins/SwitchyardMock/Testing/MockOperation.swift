public import Foundation
public import Switchyard

/// The name of a mock's operation and the type of its answer, for scripts and recorded calls.
public struct MockOperation<Answer: Sendable, Failure: ClientError>: Sendable, Hashable, CustomStringConvertible {
    public let name: String
    public var description: String { name }

    init(_ name: String) { self.name = name }
}

/// A call that reached a mock.
public struct MockCall: Sendable, Hashable, CustomStringConvertible {
    /// The operation's name, see ``MockOperation/name``.
    public let operation: String
    /// The subject of the call: paths, queries, kinds; never contents, passwords or addresses.
    public let subject: String

    /// Such as `commit set users/alice, delete users/bob`.
    public var description: String { subject.isEmpty ? operation : "\(operation) \(subject)" }
}

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
    public static var sendEmailLink: Self { Self("send email link") }
    public static var sendPasswordReset: Self { Self("send password reset") }
    public static var resetPassword: Self { Self("reset password") }
    public static var reauthenticate: Self { Self("reauthenticate") }
    public static var deleteAccount: Self { Self("delete account") }
    public static var signOut: Self { Self("sign out") }
}

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

/// The operations of ``MockFileStorageClient`` that a script can answer or make fail.
extension MockOperation where Failure == FileStorageError, Answer == FileMetadata {
    /// Each part of an upload is a separate call.
    public static var uploadPart: Self { Self("upload part") }
    public static var metadata: Self { Self("metadata") }
    public static var updateMetadata: Self { Self("update metadata") }
    public static var copy: Self { Self("copy") }
    public static var move: Self { Self("move") }
}
extension MockOperation where Failure == FileStorageError, Answer == Data {
    public static var data: Self { Self("data") }
    /// Each part of a download is a separate call.
    public static var downloadPart: Self { Self("download part") }
}
extension MockOperation where Failure == FileStorageError, Answer == FileList {
    public static var list: Self { Self("list") }
}
extension MockOperation where Failure == FileStorageError, Answer == URL {
    public static var downloadURL: Self { Self("download address") }
}
extension MockOperation where Failure == FileStorageError, Answer == Bool {
    public static var delete: Self { Self("delete") }
}

/// The operations of ``MockMessagingClient`` and ``MockMessageSender`` that a script can answer or make fail.
extension MockOperation where Failure == MessagingError, Answer == MessagingToken {
    public static var token: Self { Self("token") }
}
extension MockOperation where Failure == MessagingError, Answer == String {
    /// One per message, also for messages sent together. For ``MockMessageSender``.
    public static var sendMessage: Self { Self("send message") }
}
extension MockOperation where Failure == MessagingError, Answer == Bool {
    public static var deleteToken: Self { Self("delete token") }
    public static var setPermission: Self { Self("set permission") }
    public static var setPlatformToken: Self { Self("set platform token") }
    public static var subscribe: Self { Self("subscribe") }
    public static var unsubscribe: Self { Self("unsubscribe") }
}

/// The operations of ``MockStorageClient`` that a script can answer.
extension MockOperation where Failure == StorageError, Answer == DocumentSnapshot {
    public static var document: Self { Self("document") }
    /// Opening a stream of a document. It can fail, but has no scripted answer.
    public static var documentStream: Self { Self("stream of document") }
}
extension MockOperation where Failure == StorageError, Answer == [DocumentSnapshot] {
    public static var documents: Self { Self("documents") }
    /// A read in a transaction.
    public static var transactionRead: Self { Self("transaction read") }
}
extension MockOperation where Failure == StorageError, Answer == QuerySnapshot {
    public static var query: Self { Self("query") }
    /// Opening a stream of a query. It can fail, but has no scripted answer.
    public static var queryStream: Self { Self("stream of query") }
}
extension MockOperation where Failure == StorageError, Answer == WriteReceipt {
    /// A batch of writes as the app makes it: `set`, `update`, `delete` and `commit` alike, and adding to a collection.
    ///
    /// A transaction has other operations: ``MockOperation/transactionCommit`` for its writes,
    /// ``MockOperation/transactionRead`` for its reads. Sending a queued write is ``MockOperation/send``.
    public static var commit: Self { Self("commit") }
}
extension MockOperation where Failure == StorageError, Answer == WriteReceipt.Acknowledgement {
    /// The commit of a transaction. After `.aborted`, the transaction is repeated.
    public static var transactionCommit: Self { Self("transaction commit") }
    /// Sending a queued write to the server: one made offline, or while others were waiting.
    public static var send: Self { Self("send") }
}
extension MockOperation where Failure == StorageError, Answer == [DocumentValue] {
    public static var aggregate: Self { Self("aggregate") }
}
extension MockOperation where Failure == StorageError, Answer == [CollectionPath] {
    public static var collections: Self { Self("collections") }
}
extension MockOperation where Failure == StorageError, Answer == [StoragePath] {
    /// The dividers between the parts of a concurrent scan.
    public static var dividers: Self { Self("dividers") }
}

extension Query {
    /// For recorded calls: the source and the number of conditions, never their values.
    var subject: String {
        var text =
            switch source {
            case .collection(let path): path.rawValue
            case .group(let id, nil): "group \(id)"
            case .group(let id, let ancestor?): "group \(id) under \(ancestor)"
            }
        for case .comparison(let field, let operation, _) in filter?.conditions ?? [] {
            text += " \(field) \(operation.rawValue) …"
        }
        for case .test(let field, let test) in filter?.conditions ?? [] { text += " \(field) \(test.rawValue)" }
        for order in orders { text += " by \(order.field)\(order.direction == .descending ? " descending" : "")" }
        switch limit {
        case .first(let count): text += " first \(count)"
        case .last(let count): text += " last \(count)"
        case nil: break
        }
        return text
    }
}

extension DocumentWrite {
    /// For recorded calls: the operation and the document, never the contents.
    var subject: String {
        let verb =
            switch (operation, precondition) {
            case (.set, .exists(false)): "create"
            case (.set, _): "set"
            case (.patch, .exists(true)): "update"
            case (.patch, _): "merge"
            case (.delete, _): "delete"
            case (.verify, _): "verify"
            }
        return "\(verb) \(path)"
    }
}

extension WriteBatch {
    var subject: String { writes.map(\.subject).joined(separator: ", ") }
}
