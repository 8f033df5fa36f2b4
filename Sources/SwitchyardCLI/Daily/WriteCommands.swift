import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardText

/// What writing commands have in common: JSON of an argument or the standard input, and waiting for the server.
struct WriteOptions: Sendable {
    let wait: Duration

    init(_ given: Options) throws(UsageError) { wait = .seconds(try given.number("--wait", from: 0) ?? 10) }

    /// The JSON of a command's argument; the standard input without one.
    static func json(_ argument: String?) throws -> JSON {
        let bytes = argument.flatMap { $0 == "-" ? nil : Array($0.utf8) } ?? Input.all()
        do throws(JSONError) {
            return try JSON(parsing: bytes)
        } catch {
            let text = String(decoding: bytes, as: UTF8.self)
            let mistake = TextMistake(
                "that is not JSON: \(error.reason.rawValue).", at: error.offset..<error.offset, in: text)
            throw CommandFailure(
                text.isEmpty ? "there is no JSON; pass it as an argument" : mistake.description, .usage)
        }
    }

    static func reading<Value>(_ read: () throws(DocumentJSONError) -> Value) throws -> Value {
        do throws(DocumentJSONError) { return try read() } catch { throw CommandFailure("\(error)", .usage) }
    }

    /// Waits until the server has the write.
    func acknowledged(_ receipt: WriteReceipt) async throws { try await receipt.acknowledged(within: wait) }
}

/// `switchyard set`
struct SetCommand: BackendCommand {
    let name = "set"
    let backend: BackendOptions
    private let options: WriteOptions
    private let path: StoragePath?
    private let json: String?

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("set"))
        backend = BackendOptions(given)
        options = try WriteOptions(given)
        path = try given.arguments.first.flatMap { (text) throws(UsageError) in
            text == "-" ? nil : try text.documentPath()
        }
        json = given.arguments.count > 1 ? given.arguments[1] : nil
    }

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        guard let path else { return try await setLines(backend.storage) }
        let json = try WriteOptions.json(json)
        let fields = try WriteOptions.reading { () throws(DocumentJSONError) in try DocumentJSON.fields(json) }
        try await options.acknowledged(backend.storage.setDocument(path, fields))
        return .success
    }

    /// At most this many lines in a batch.
    private static let batchSize = 100

    private func setLines(_ storage: any StorageClient) async throws -> ExitStatus {
        var reader = LineReader()
        var batch = WriteBatch()
        var number = 0
        let size =
            storage.capabilities.mixedBatches ? min(Self.batchSize, storage.capabilities.maximumBatchSize ?? .max) : 1
        let bar = ProgressBar(.things("documents"))
        defer { bar.clear() }
        func send() async throws {
            guard !batch.isEmpty else { return }
            try await options.acknowledged(storage.commit(batch))
            bar.add(Int64(batch.count))
            batch = WriteBatch()
        }
        while let line = reader.next() {
            try Task.checkCancellation()
            number += 1
            let read: (path: StoragePath, fields: WriteFields)
            do {
                read = try DocumentJSON.line(JSON(parsing: line))
            } catch {
                try await send()
                let reason = (error as? JSONError)?.reason.rawValue ?? "\(error)"
                throw CommandFailure("line \(number) of the standard input is no document: \(reason)", .usage)
            }
            try batch.set(read.path, read.fields)
            if batch.count >= size { try await send() }
        }
        try await send()
        bar.clear()
        Terminal.error("switchyard set: wrote \(number) document\(number == 1 ? "" : "s")")
        return .success
    }
}

/// The words of a command that edits one document: its path, and JSON.
struct EditWords: Sendable {
    let backend: BackendOptions
    let options: WriteOptions
    let path: StoragePath
    let json: String?

    init(_ words: [String], of command: String) throws(UsageError) {
        let given = try Options(words, of: Commands.named(command))
        backend = BackendOptions(given)
        options = try WriteOptions(given)
        path = try given.arguments[0].documentPath()
        json = given.arguments.count > 1 ? given.arguments[1] : nil
    }
}

/// `switchyard merge`
struct MergeCommand: BackendCommand {
    let name = "merge"
    var backend: BackendOptions { words.backend }
    private let words: EditWords

    init(_ words: [String]) throws(UsageError) { self.words = try EditWords(words, of: "merge") }

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        let json = try WriteOptions.json(words.json)
        let fields = try WriteOptions.reading { () throws(DocumentJSONError) in try DocumentJSON.fields(json) }
        try await words.options.acknowledged(backend.storage.mergeDocument(words.path, fields))
        return .success
    }
}

/// `switchyard update`
struct UpdateCommand: BackendCommand {
    let name = "update"
    var backend: BackendOptions { words.backend }
    private let words: EditWords

    init(_ words: [String]) throws(UsageError) { self.words = try EditWords(words, of: "update") }

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        let json = try WriteOptions.json(words.json)
        let updates = try WriteOptions.reading { () throws(DocumentJSONError) in try DocumentJSON.updates(json) }
        try await words.options.acknowledged(backend.storage.updateDocument(words.path, updates))
        return .success
    }
}

/// `switchyard delete`
struct DeleteCommand: BackendCommand {
    let name = "delete"
    let backend: BackendOptions
    private let options: WriteOptions
    private let paths: [StoragePath]
    private let isRecursive: Bool
    private let isSure: Bool

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("delete"))
        backend = BackendOptions(given)
        options = try WriteOptions(given)
        isRecursive = given.has("--recursive")
        isSure = given.has("--yes")
        guard !isSure || isRecursive else { throw UsageError("“--yes” goes with “--recursive”") }
        var paths: [StoragePath] = []
        for path in given.arguments { paths.append(try path.documentPath()) }
        self.paths = paths
    }

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        guard isRecursive else {
            for path in paths { try await options.acknowledged(backend.storage.deleteDocument(path)) }
            return .success
        }
        guard isSure || agrees() else { throw CommandFailure("nothing was deleted") }
        var count = 0
        for path in paths {
            let bar = ProgressBar(.things("documents"))
            defer { bar.clear() }
            count += try await backend.storage.deleteRecursively(path) { bar.show(Int64($0), of: nil) }
        }
        Terminal.print("Deleted \(count) document\(count == 1 ? "" : "s").")
        return .success
    }

    private func agrees() -> Bool {
        let names = paths.map(\.rawValue).joined(separator: ", ")
        Terminal.error("Type “yes” to delete everything below \(names) (“--yes” says so in a script):")
        return readLine() == "yes"
    }
}
