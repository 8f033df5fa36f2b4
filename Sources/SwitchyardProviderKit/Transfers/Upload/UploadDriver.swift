package import Switchyard

/// What a provider supplies for uploads: the calls. When to make which is decided by ``UploadMachine``.
///
/// One driver belongs to one upload. Calls come one at a time; each ends promptly when its task is cancelled. A failure
/// says in `isRetryable` whether the same call may succeed a little later.
package protocol UploadDriver: Sendable {
    /// Opens a session, at the beginning and when the server has forgotten the one before.
    ///
    /// - Parameter length: `nil` where nobody knows yet.
    func begin(length: Int64?) async throws(FileStorageError) -> UploadSession

    /// Sends bytes that begin at `offset`.
    ///
    /// - Parameters:
    ///   - isLast: Nothing comes behind them; they may then be none at all.
    ///   - progress: To be told how many of them have left so far.
    func send(
        _ bytes: UploadBytes, at offset: Int64, isLast: Bool, in session: UploadSession,
        progress: @escaping @Sendable (Int64) -> Void
    ) async throws(FileStorageError) -> UploadAnswer

    /// Finds out how far the server has come.
    ///
    /// - Throws: `.uploadExpired` when it knows nothing of the session any more.
    func state(of session: UploadSession) async throws(FileStorageError) -> UploadAnswer

    /// Sends everything in one request, without a session.
    func store(
        _ bytes: UploadBytes, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(FileStorageError) -> StoredFile

    /// Has the server throw away what it got. Best effort: nobody hears of a failure.
    func abandon(_ session: UploadSession) async
}

/// An upload as the server knows it. It is worth as much as a key: whoever has it can go on with the upload.
package struct UploadSession: Sendable, Hashable, Codable {
    package let address: String
    /// Every part but the last is a multiple of this.
    package let granularity: Int64
    /// The ID of the user whose it is, ``nobody`` where none was signed in. Only records of earlier versions say nothing.
    package let owner: String?

    package static let nobody = ""

    package init(address: String, granularity: Int64 = 1, owner: String) {
        self.address = address
        self.owner = owner
        self.granularity = max(1, granularity)
    }
}

extension UploadSession: CustomStringConvertible, CustomReflectable {
    package var description: String { "<upload session>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// How far the server has come with an upload.
package enum UploadAnswer: Sendable, Hashable {
    /// It has all bytes before this offset, and waits for the rest.
    case active(offset: Int64)
    /// It expected other bytes than it was sent; ask it for the offset.
    case displaced
    case finished(StoredFile)
}

/// A file that an upload has made.
package struct StoredFile: Sendable, Hashable {
    package let metadata: FileMetadata
    package let checksums: ContentChecksums

    package init(_ metadata: FileMetadata, _ checksums: ContentChecksums = ContentChecksums()) {
        self.metadata = metadata
        self.checksums = checksums
    }
}

/// The bytes of one request, with what they are in place where that is possible.
package enum UploadBytes: Sendable, Hashable {
    case memory([UInt8])
    /// A part of a file, to be read as it is sent.
    case file(path: String, range: Range<Int64>)

    package var count: Int64 {
        switch self {
        case .memory(let bytes): Int64(bytes.count)
        case .file(_, let range): Int64(range.count)
        }
    }

    /// All of them in memory: for requests that hold little more than these.
    package func collected() throws(FileStorageError) -> [UInt8] {
        switch self {
        case .memory(let bytes): return bytes
        case .file(let path, let range):
            var all: [UInt8] = []
            all.reserveCapacity(range.count)
            try SourceFile.read(path, range) { all.append(contentsOf: $0) }
            return all
        }
    }
}
