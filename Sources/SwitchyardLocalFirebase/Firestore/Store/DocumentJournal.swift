import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardServerKit
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// Writes every commit as a line of a file before it is answered, so a killed process loses no answered commit. A truncated
/// line was never answered, and is dropped.
final class DocumentJournal: Sendable {
    private static let file = "documents.jsonl"

    /// The contents of one database.
    struct Contents: Sendable {
        var documents = LocalDocuments()
        var lastCommit = Timestamp(microseconds: 0)
    }

    private let descriptor: Mutex<Int32?>

    /// Reads the folder, and rewrites it without its history.
    init(_ folder: LocalFolder, contents: inout [FirestoreDatabase: Contents]) throws(LocalFirebaseError) {
        if let data = try folder.read(DocumentJournal.file) {
            let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            // Anything after the last line break belongs to an unanswered commit.
            for line in lines.dropLast() where !line.isEmpty { try DocumentJournal.read(line, &contents) }
        }
        var compact: [UInt8] = []
        for (database, saved) in contents {
            compact += DocumentJournal.line(Array(saved.documents.all), at: saved.lastCommit, in: database)
        }
        try folder.write(Data(compact), as: DocumentJournal.file)
        let path = folder.url.appendingPathComponent(DocumentJournal.file).path
        let opened = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard opened >= 0 else { throw LocalFolder.unreadable(DocumentJournal.file) }
        descriptor = Mutex(opened)
    }

    deinit { finish() }

    func finish() {
        descriptor.withLock { descriptor in
            if let open = descriptor { close(open) }
            descriptor = nil
        }
    }

    func append(
        _ changed: [DocumentSnapshot], at time: Timestamp, in database: FirestoreDatabase
    ) throws(FirestoreFailure) {
        try append(DocumentJournal.line(changed, at: time, in: database))
    }

    private func append(_ bytes: [UInt8]) throws(FirestoreFailure) {
        let isWritten = descriptor.withLock { descriptor -> Bool in
            guard let descriptor else { return false }
            let start = lseek(descriptor, 0, SEEK_END)
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                guard count > 0 else {
                    // A partial line would corrupt the next one.
                    _ = ftruncate(descriptor, start)
                    return false
                }
                rest = rest.dropFirst(count)
            }
            return true
        }
        guard isWritten else { throw FirestoreFailure(.internal, "The change cannot be saved in the server's folder.") }
    }

    /// Notes that a database is empty now. Others keep what they have.
    func forget(_ database: FirestoreDatabase, at time: Timestamp) throws(FirestoreFailure) {
        let line: JSON = [
            "project": .string(database.project), "database": .string(database.database),
            "at": .integer(time.microseconds), "documents": [], "isReset": true,
        ]
        try append(line.bytes() + [UInt8(ascii: "\n")])
    }

    private static func line(
        _ documents: [DocumentSnapshot], at time: Timestamp, in database: FirestoreDatabase
    ) -> [UInt8] {
        let line: JSON = [
            "project": .string(database.project), "database": .string(database.database),
            "at": .integer(time.microseconds),
            "documents": .array(
                documents.map { document in
                    // A document without fields is not a missing one.
                    document.exists
                        ? ["document": document.firestore(in: database)]
                        : ["deleted": .string(database.resourceName(of: document.path))]
                }),
        ]
        return line.bytes() + [UInt8(ascii: "\n")]
    }

    private static func read(
        _ line: Data, _ contents: inout [FirestoreDatabase: Contents]
    ) throws(LocalFirebaseError) {
        guard let json = try? JSON(parsing: line), let project = json["project"]?.string,
            let id = json["database"]?.string, let time = json["at"]?.int64, let entries = json["documents"]?.array
        else { throw LocalFolder.unreadable(file) }
        let database = FirestoreDatabase(project: project, database: id)
        if json["isReset"]?.bool == true { contents[database] = nil }
        do throws(FirestoreFormatError) {
            for entry in entries {
                let document =
                    if let name = entry["deleted"]?.string {
                        DocumentSnapshot.missing(try database.path(ofName: name))
                    } else {
                        try DocumentSnapshot(firestore: entry["document"] ?? .null, in: database)
                    }
                contents[database, default: Contents()].documents.store(document)
            }
        } catch {
            throw LocalFolder.unreadable(file)
        }
        contents[database, default: Contents()].lastCommit = Timestamp(microseconds: time)
    }
}
