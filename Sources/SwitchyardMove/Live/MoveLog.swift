import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import Synchronization

/// Makes the entries of one side's log: a document in the same batch as the writes that it repeats.
struct MoveLog: Sendable {
    let layout: MoveLayout
    private let ids = EntryIDs()
    /// Documents have at most 1 MiB; longer entries are divided.
    private static let chunk = 700_000

    init(_ layout: MoveLayout) { self.layout = layout }

    /// How many documents an entry adds to a batch, except for very long ones.
    static let documents = 1

    /// The entry for `writes`.
    ///
    /// - Parameter isState: Whether they can be carried as states only: they depend on what has been read, or come from the other side.
    func entry(for writes: [DocumentWrite], isState: Bool) throws(StorageError) -> [DocumentWrite] {
        let bytes = Array(try Self.bytes(of: writes))
        let id = ids.next()
        let parts = stride(from: 0, to: max(1, bytes.count), by: Self.chunk).map {
            Data(bytes[$0..<min(bytes.count, $0 + Self.chunk)])
        }
        var entry: [DocumentWrite] = []
        for (index, part) in parts.enumerated() {
            // The first one is found by its time; the others belong to it.
            let fields: WriteFields =
                index == 0
                ? [
                    "at": .serverTime, "writes": .of(part), "parts": .of(parts.count), "isState": .of(isState),
                ] : ["writes": .of(part)]
            entry.append(try .set(layout.log.document(index == 0 ? id : "\(id)-\(index)"), fields))
        }
        return entry
    }

    static func bytes(of writes: [DocumentWrite]) throws(StorageError) -> Data {
        do {
            return Data(try JSONBytesEncoder().encode(writes.map(LoggedWrite.init)))
        } catch {
            throw StorageError(.internal, "The entry of the move's log cannot be encoded: \(error)", underlying: error)
        }
    }

    /// An entry that repeats nothing: once it is gone, everything that this device wrote before it has been carried over.
    func barrier() throws(StorageError) -> DocumentWrite {
        try .set(layout.log.document(ids.next()), ["at": .serverTime, "parts": 0])
    }

    /// An entry for a file.
    ///
    /// - Parameter isOpen: Whether the file is about to be changed; the same entry is written again when it has been.
    func entry(for file: FilePath, id: String, isOpen: Bool) throws(StorageError) -> DocumentWrite {
        try .set(
            layout.log.document(id),
            ["at": .serverTime, "parts": 0, "file": .of(file.rawValue), "isOpen": .of(isOpen)])
    }

    func newID() -> String { ids.next() }

    func isEntry(_ write: DocumentWrite) -> Bool { write.path.collection == layout.log }
}

/// Names of entries: those of one device sort as they were made.
private final class EntryIDs: Sendable {
    private let last = Mutex<UInt64>(0)
    private let device = RandomID.make(length: 8)

    func next() -> String {
        let now = UInt64(max(0, Date().timeIntervalSince1970 * 1_000_000))
        let number = last.withLock { last in
            last = max(last + 1, now)
            return last
        }
        let digits = String(number, radix: 36)
        return String(repeating: "0", count: max(0, 12 - digits.utf8.count)) + digits + "-" + device
    }
}

/// An entry as it is read from a log.
struct MoveLogEntry: Sendable {
    enum Content: Sendable {
        case writes([DocumentWrite])
        case file(FilePath, isOpen: Bool)
        case barrier
        /// Written by another version of this library, or damaged.
        case unreadable(String)
    }

    let path: StoragePath
    let at: Timestamp
    /// The version of the entry, which is also that of the documents that its batch wrote, on backends with comparable versions.
    var version: Timestamp?
    let content: Content
    /// The other documents of a long entry.
    var parts: [StoragePath] = []
    /// Whether its writes can be carried as states only: they depend on what had been read, or come from the other side.
    var isState = false

    /// Whether it is about a file that is being changed. One that was never closed, since its process ended, is carried after an
    /// hour.
    var isOpen: Bool {
        if case .file(_, true) = content { Timestamp(Date()).seconds - at.seconds < 3600 } else { false }
    }

    /// The documents that it is about.
    var documents: [StoragePath] {
        guard case .writes(let writes) = content else { return [] }
        return writes.filter { if case .verify = $0.operation { false } else { true } }.map(\.path)
    }

    static func query(_ layout: MoveLayout, limit: Int) -> Query {
        Query(in: layout.log).ordered(by: "at").limited(to: limit)
    }

    static func read(_ document: DocumentSnapshot, _ storage: any StorageClient) async throws(StorageError)
        -> MoveLogEntry
    {
        let at = document["at"]?.timestampValue ?? document.updateTime ?? Timestamp(clampingSeconds: 0, nanoseconds: 0)
        func entry(_ content: Content, _ parts: [StoragePath] = []) -> MoveLogEntry {
            MoveLogEntry(
                path: document.path, at: at, version: document.updateTime, content: content, parts: parts)
        }
        if let name = document["file"]?.stringValue {
            do throws(FileStorageError) {
                let file = try FilePath(validating: name)
                return entry(.file(file, isOpen: document["isOpen"]?.boolValue ?? false))
            } catch {
                return entry(.unreadable(error.message))
            }
        }
        let count = Int(document["parts"]?.integerValue ?? 1)
        guard count > 0 else { return entry(.barrier) }
        let parts = (1..<max(1, count)).map { document.path.collection.document("\(document.id)-\($0)") }
        var bytes = document["writes"]?.bytesValue ?? Data()
        if !parts.isEmpty {
            for part in try await storage.documents(parts, from: .server) {
                bytes += part["writes"]?.bytesValue ?? Data()
            }
        }
        do {
            let writes: [LoggedWrite] = try JSONBytesDecoder().decode(from: Array(bytes))
            var found = entry(.writes(try writes.map { try $0.write() }), parts)
            found.isState = document["isState"]?.boolValue ?? false
            return found
        } catch {
            return entry(.unreadable("\(error)"), parts)
        }
    }
}
