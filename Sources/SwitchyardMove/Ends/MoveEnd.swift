public import Foundation
public import Switchyard

/// One end of a move: a backend (``BackendEnd``) or a folder (``ArchiveEnd``).
///
/// Write another one to move from or to something else: it needs only the services that it has.
public protocol MoveEnd: Sendable {
    /// Its name in plans and errors. A journal belongs to two ends of the same names.
    var name: String { get }
    var documents: MoveService<any MoveDocuments> { get }
    var accounts: MoveService<any MoveAccounts> { get }
    var files: MoveService<any MoveFiles> { get }
    /// Called before the first write. Does nothing by default.
    func prepare() async throws
}

extension MoveEnd {
    public func prepare() async throws {}
}

/// A service of an end, or why the end has none.
public enum MoveService<Service: Sendable>: Sendable {
    case present(Service)
    /// With the reason, as a sentence.
    case absent(String)

    public var service: Service? { if case .present(let service) = self { service } else { nil } }
    public var absence: String? { if case .absent(let reason) = self { reason } else { nil } }
}

/// The documents of an end, by the names of their collections: `items` are the documents of all collections of that name,
/// wherever they are.
public protocol MoveDocuments: Sendable {
    /// The values that this end cannot hold as they are.
    var limits: ValueLimits { get }
    /// Requirements of this end that no one can meet but the reader of the plan, as sentences.
    var requirements: [String] { get }

    /// The names of the collections below `document`, or at the top; `nil` if this end cannot list them. An archive lists all
    /// its collections at the top.
    func collections(under document: StoragePath?) async throws -> [String]?
    func count(of collection: String) async throws -> Int
    /// Ranges that can be read at the same time, and that contain each document once. At most `count`, at least one.
    func ranges(of collection: String, into count: Int) async throws -> [DocumentRange]
    /// The next documents of a range. Documents that come and go meanwhile do not shift the others.
    ///
    /// - Parameters:
    ///   - range: One of ``ranges(of:into:)``.
    ///   - place: ``DocumentPage/place`` of the page before, also of an earlier process; `nil` for the first.
    ///   - limit: The maximum number of documents.
    /// - Returns: An empty page at the end.
    func page(of range: DocumentRange, after place: String?, limit: Int) async throws -> DocumentPage
    /// The documents at these paths, in this order; missing ones have no data.
    func documents(_ paths: [StoragePath]) async throws -> [DocumentSnapshot]
    /// Creates or replaces documents of one collection. Writing the same page again changes nothing.
    ///
    /// - Parameters:
    ///   - documents: Each with data.
    ///   - collection: The name of their collections.
    ///   - page: Names the page among all of its collection, the same after a restart.
    /// - Returns: The documents that this end rejects for good. For everything else it throws.
    func write(_ documents: [DocumentSnapshot], of collection: String, page: String) async throws -> [Rejection]
}

/// A part of all collections of one name, from a beginning to an end that its ``MoveDocuments`` understands.
public struct DocumentRange: Sendable, Hashable, Codable {
    public let collection: String
    /// `nil` for the first document.
    public let start: String?
    /// The start of the next range; `nil` for the end.
    public let end: String?

    public init(collection: String, start: String? = nil, end: String? = nil) {
        self.collection = collection
        self.start = start
        self.end = end
    }
}

public struct DocumentPage: Sendable {
    public var documents: [DocumentSnapshot]
    /// Where the next page begins.
    public var place: String

    public init(_ documents: [DocumentSnapshot], place: String) {
        self.documents = documents
        self.place = place
    }
}

/// What an end rejected for good, and why.
public struct Rejection: Sendable, Hashable, Codable {
    /// The path of a document or a file, or the ID of an account.
    public var subject: String
    public var reason: String

    public init(_ subject: String, _ reason: String) {
        self.subject = subject
        self.reason = reason
    }
}

/// The files of an end.
public protocol MoveFiles: Sendable {
    /// Calls `body` with all files, page by page.
    func forEachPage(_ body: ([FileMetadata]) async throws -> Void) async throws
    func contents(of path: FilePath) -> FileContents
    /// Creates or replaces a file, with its content type and metadata.
    ///
    /// - Returns: What is known about it afterwards.
    func write(_ file: FileMetadata, _ contents: @escaping @Sendable () -> FileContents) async throws -> FileMetadata
    /// - Returns: `nil` if there is no such file.
    func metadata(of path: FilePath) async throws -> FileMetadata?
}

public typealias FileContents = any AsyncSequence<Data, any Error>

/// The accounts of an end.
public protocol MoveAccounts: Sendable {
    /// The kinds of password hashes that it accepts with new accounts.
    var passwordHashes: Set<PasswordHash.Kind> { get }
    /// Whether a new account can have this ID, as far as that is known.
    func accepts(_ id: AuthUser.ID) -> Bool

    /// The next accounts.
    ///
    /// - Parameters:
    ///   - place: ``MovedAccountPage/place`` of the page before; `nil` for the first.
    ///   - limit: The maximum number of accounts.
    func page(after place: String?, limit: Int) async throws -> MovedAccountPage
    /// The accounts with these IDs, in this order.
    func accounts(_ ids: [AuthUser.ID]) async throws -> [MovedAccount?]
    /// Creates accounts. One that is there already, by its ID or its address, stays as it is.
    ///
    /// - Parameters:
    ///   - accounts: The accounts with the IDs and properties that they should have.
    ///   - page: Names the page among all, the same after a restart.
    /// - Returns: The outcome for each, in the given order.
    func add(_ accounts: [MovedAccount], page: String) async throws -> [AccountOutcome]
}

/// An account with what proves its owner's password, if that is known.
public struct MovedAccount: Sendable, Hashable {
    public var account: ManagedAccount
    public var passwordHash: PasswordHash?

    public init(_ account: ManagedAccount, passwordHash: PasswordHash? = nil) {
        self.account = account
        self.passwordHash = passwordHash
    }

    public var id: AuthUser.ID { account.id }
}

public struct MovedAccountPage: Sendable {
    public var accounts: [MovedAccount]
    /// Where the next page begins; `nil` at the end.
    public var place: String?

    public init(_ accounts: [MovedAccount], place: String?) {
        self.accounts = accounts
        self.place = place
    }
}

/// What became of an account.
public enum AccountOutcome: Sendable, Hashable {
    case kept
    /// It has another ID on this end.
    case renamed(AuthUser.ID)
    case rejected(String)
}
