package import Switchyard

/// The upload calls, supplied by a provider. ``UploadMachine`` decides when to make which.
///
/// One driver belongs to one upload. Calls come one at a time; each ends promptly when its task is cancelled. The
/// `isRetryable` of an error says whether the same call may succeed later.
package protocol UploadDriver: Sendable {
    /// Opens a session, at the beginning and when the server has forgotten the previous one.
    ///
    /// - Parameter length: `nil` if it is not known yet.
    func begin(length: Int64?) async throws(FileStorageError) -> UploadSession

    /// Sends bytes that begin at `offset`.
    ///
    /// - Parameters:
    ///   - isLast: Whether these are the last bytes; then there may be none.
    ///   - progress: Call it with the number of bytes sent so far.
    func send(
        _ bytes: UploadBytes, at offset: Int64, isLast: Bool, in session: UploadSession,
        progress: @escaping @Sendable (Int64) -> Void
    ) async throws(FileStorageError) -> UploadAnswer

    /// Asks how many bytes the server has.
    ///
    /// - Throws: `.uploadExpired` if the server no longer knows the session.
    func state(of session: UploadSession) async throws(FileStorageError) -> UploadAnswer

    /// Sends everything in one request, without a session.
    func store(
        _ bytes: UploadBytes, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(FileStorageError) -> StoredFile

    /// Makes the server discard the upload. Best effort: failures are ignored.
    func abandon(_ session: UploadSession) async
}

/// A server's upload session. Treat it like a key: anyone who has it can continue the upload.
package struct UploadSession: Sendable, Hashable, Codable {
    package let address: String
    /// Every part except the last is a multiple of this.
    package let granularity: Int64
    /// The ID of its user, or ``noUser`` if no user was signed in. `nil` only in records of earlier versions.
    package let owner: String?

    package static let noUser = ""

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

/// The server's progress with an upload.
package enum UploadAnswer: Sendable, Hashable {
    /// It has all bytes before this offset, and waits for the rest.
    case active(offset: Int64)
    /// It expected bytes at another offset; ask it for the offset.
    case displaced
    case finished(StoredFile)
}

/// The file created by an upload.
package struct StoredFile: Sendable, Hashable {
    package let metadata: FileMetadata
    package let checksums: ContentChecksums

    package init(_ metadata: FileMetadata, _ checksums: ContentChecksums = ContentChecksums()) {
        self.metadata = metadata
        self.checksums = checksums
    }
}

/// The bytes of one request, without copying if possible.
package enum UploadBytes: Sendable, Hashable {
    case memory([UInt8])
    /// A part of a file, read while it is sent.
    case file(path: String, range: Range<Int64>)

    package var count: Int64 {
        switch self {
        case .memory(let bytes): Int64(bytes.count)
        case .file(_, let range): Int64(range.count)
        }
    }

    /// All bytes in memory, for small requests.
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
