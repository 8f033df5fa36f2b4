import Foundation
import Switchyard
import SwitchyardBytes
import Synchronization

/// Saves and restores a backend's contents. Files are written completely; several pending changes of the same file are written
/// once.
final class MockArchive: Sendable {
    private struct Saved {
        var documents = 0
        var accounts = 0
        var files = 0
        var messages = 0
        var parts: Set<String> = []
    }

    private let folder: MockFolder
    private let database: MockDatabase
    private let accounts: MockAccounts
    private let files: MockFiles
    private let messages: MockMessages
    private let report: @Sendable (String) -> Void
    /// Held while a file is written, so that an older state never replaces a newer one.
    private let saved = Mutex(Saved())

    init(
        _ folder: MockFolder, _ database: MockDatabase, _ accounts: MockAccounts, _ files: MockFiles,
        _ messages: MockMessages, _ report: @escaping @Sendable (String) -> Void
    ) {
        self.folder = folder
        self.database = database
        self.accounts = accounts
        self.files = files
        self.messages = messages
        self.report = report
    }

    func load() throws(MockFile.Failure) {
        try loadDocuments()
        try loadAccounts()
        try loadFiles()
        try loadMessages()
    }

    /// Waits for current writes, and releases the folder.
    func close() { saved.withLock { _ in folder.lock.release() } }

    // MARK: Documents

    private func loadDocuments() throws(MockFile.Failure) {
        let file = folder.file("documents")
        guard let body = try file.read() else { return }
        guard let json = try? JSON(parsing: body), let elements = json["documents"]?.array,
            let last = json["last"]?.int64, let ledger = json["ledger"]?.array
        else { throw file.setAside() }
        let documents = elements.compactMap(DocumentCoding.document)
        guard documents.count == elements.count else { throw file.setAside() }
        database.withState { state in
            for document in documents { state.documents.store(document) }
            state.lastCommit = Timestamp(microseconds: last)
            for entry in ledger {
                guard let id = entry["id"]?.string, let time = entry["at"].flatMap(DocumentCoding.time) else {
                    continue
                }
                state.ledger[id] = WriteReceipt.Acknowledgement(commitTime: time, updateTimes: [])
                state.ledgerOrder.append(id)
            }
        }
    }

    func saveDocuments() {
        keep { (saved) throws(MockFile.Failure) in
            let (version, table, last, ledger) = database.withState { state in
                (
                    state.version, state.documents, state.lastCommit,
                    state.ledgerOrder.suffix(200).map { ($0, state.ledger[$0]?.commitTime ?? .distantPast) }
                )
            }
            guard version != saved.documents else { return }
            let json: JSON = [
                "last": .integer(last.microseconds), "documents": .array(table.all.map(DocumentCoding.json)),
                "ledger": .array(ledger.map { ["id": .string($0.0), "at": DocumentCoding.json($0.1)] }),
            ]
            try folder.file("documents").write(json.bytes())
            saved.documents = version
        }
    }

    // MARK: The queue and the cache of a device

    func restore(_ device: MockDevice, as name: String) throws(MockFile.Failure) {
        try restoreCache(of: device, as: name)
        let file = folder.file(name)
        if let body = try file.read() {
            let owner = database.withState { _ in device.queue.owner }
            guard let json = try? JSON(parsing: body), let shares = WriteCoding.shares(json, owner: owner) else {
                throw file.setAside()
            }
            database.withState { _ in device.queue.shares = shares }
        }
        database.withState { _ in device.keptAs = name }
    }

    func save(_ device: MockDevice) {
        keep { (_) throws(MockFile.Failure) in
            let saved = database.withState { _ in
                defer { device.queue.isSaved = true }
                return device.queue.isSaved ? nil : device.keptAs.map { ($0, WriteCoding.json(device.queue.shares)) }
            }
            guard let (name, json) = saved else { return }
            do throws(MockFile.Failure) {
                try folder.file(name).write(json.bytes())
            } catch {
                // The write failed, so the queue is still unsaved.
                database.withState { _ in device.queue.isSaved = false }
                throw error
            }
        }
    }

    private func cacheFile(_ name: String) -> MockFile { folder.file(name + "-cache") }

    private func restoreCache(of device: MockDevice, as name: String) throws(MockFile.Failure) {
        let file = cacheFile(name)
        guard let body = try file.read() else { return }
        guard let elements = (try? JSON(parsing: body))?.array else { throw file.setAside() }
        let documents = elements.compactMap(DocumentCoding.knownDocument)
        guard documents.count == elements.count else { throw file.setAside() }
        database.withState { _ in
            for document in documents { device.cache.store(document) }
            device.savedCache = device.cache.version
        }
    }

    /// Saved when a device is shut down or goes offline, not after every read.
    func saveCache(of device: MockDevice) {
        keep { (_) throws(MockFile.Failure) in
            let saved = database.withState { _ -> (String, DocumentTable)? in
                guard let name = device.keptAs, device.savedCache != device.cache.version else { return nil }
                device.savedCache = device.cache.version
                return (name, device.cache)
            }
            guard let (name, table) = saved else { return }
            do throws(MockFile.Failure) {
                try cacheFile(name).write(JSON.array(table.all.map(DocumentCoding.json)).bytes())
            } catch {
                database.withState { _ in device.savedCache = -1 }
                throw error
            }
        }
    }

    // MARK: Accounts

    private struct SavedAccounts: Codable {
        let accounts: [String: MockAccount]
        let sessions: [String: MockSession]
        let codes: [String: MockAccounts.Code]
        let key: [UInt8]
    }

    private func loadAccounts() throws(MockFile.Failure) {
        guard let saved = try folder.file("accounts").decode(SavedAccounts.self) else { return }
        accounts.change { state in
            state.accounts = saved.accounts
            state.sessions = saved.sessions
            state.codes = saved.codes
            state.key = saved.key
        }
    }

    func saveAccounts() {
        keep { (saved) throws(MockFile.Failure) in
            let (version, accounts) = accounts.read { state in
                (
                    state.version,
                    SavedAccounts(
                        accounts: state.accounts, sessions: state.sessions, codes: state.codes, key: state.key)
                )
            }
            guard version != saved.accounts else { return }
            try folder.file("accounts").encode(accounts)
            saved.accounts = version
        }
    }

    // MARK: Files

    private struct SavedFiles: Codable {
        struct File: Codable {
            let path: String
            let contentType: String
            let createdAt: Int64
            let updatedAt: Int64
            let version: String
            let md5: String
            let cacheControl: String?
            let custom: [String: String]
        }
        struct Upload: Codable {
            let id: String
            let path: String
            let contentType: String?
            let cacheControl: String?
            let custom: [String: String]
            let replacesExisting: Bool
            /// The lengths of the parts received.
            let parts: [Int]
        }
        struct Address: Codable {
            let token: String
            let path: String
            let expiresAt: Int64?
        }
        let files: [File]
        let uploads: [Upload]
        let addresses: [Address]
    }

    private func loadFiles() throws(MockFile.Failure) {
        let file = folder.file("files")
        guard let saved = try file.decode(SavedFiles.self) else { return }
        var state = MockFiles.State()
        for one in saved.files {
            let path = FilePath(unchecked: one.path)
            guard let data = folder.readContents(one.version) else { throw file.setAside() }
            state.files[path] = MockFiles.Stored(
                metadata: FileMetadata(
                    path: path, size: Int64(data.count), contentType: one.contentType,
                    createdAt: Timestamp(microseconds: one.createdAt),
                    updatedAt: Timestamp(microseconds: one.updatedAt),
                    version: one.version, md5: one.md5, cacheControl: one.cacheControl, custom: one.custom),
                contents: data)
        }
        for one in saved.uploads {
            var upload = MockFiles.Upload(
                path: FilePath(unchecked: one.path),
                options: UploadOptions(
                    contentType: one.contentType, cacheControl: one.cacheControl, custom: one.custom,
                    replacesExisting: one.replacesExisting))
            for part in one.parts.indices {
                guard let data = folder.readContents("\(one.id)-\(part)"), data.count == one.parts[part] else {
                    throw file.setAside()
                }
                upload.contents.append(data)
            }
            upload.parts = one.parts
            state.uploads[one.id] = upload
        }
        for one in saved.addresses {
            state.addresses[one.token] = MockFiles.Address(
                path: FilePath(unchecked: one.path), expiresAt: one.expiresAt.map { Timestamp(microseconds: $0) })
        }
        files.change { [state] in $0 = state }
    }

    func saveFiles() {
        keep { (saved) throws(MockFile.Failure) in
            let state = files.read { $0 }
            guard state.version != saved.files else { return }
            var names: Set<String> = []
            for stored in state.files.values {
                let name = stored.metadata.version ?? ""
                names.insert(name)
                if !saved.parts.contains(name) { try folder.writeContents(stored.contents, name) }
            }
            for (id, upload) in state.uploads {
                var start = upload.contents.startIndex
                for (part, length) in upload.parts.enumerated() {
                    let name = "\(id)-\(part)"
                    names.insert(name)
                    if !saved.parts.contains(name) {
                        try folder.writeContents(upload.contents[start..<start + length], name)
                    }
                    start += length
                }
            }
            try folder.file("files").encode(record(of: state))
            // Delete them only now that nothing refers to them.
            if !saved.parts.subtracting(names).isEmpty || saved.files == 0 { folder.keepContents(names) }
            saved.parts = names
            saved.files = state.version
        }
    }

    private func record(of state: MockFiles.State) -> SavedFiles {
        SavedFiles(
            files: state.files.values.map { stored in
                let metadata = stored.metadata
                return SavedFiles.File(
                    path: metadata.path.rawValue, contentType: metadata.contentType,
                    createdAt: metadata.createdAt?.microseconds ?? 0, updatedAt: metadata.updatedAt?.microseconds ?? 0,
                    version: metadata.version ?? "", md5: metadata.md5 ?? "", cacheControl: metadata.cacheControl,
                    custom: metadata.custom)
            },
            uploads: state.uploads.map { id, upload in
                SavedFiles.Upload(
                    id: id, path: upload.path.rawValue, contentType: upload.options.contentType,
                    cacheControl: upload.options.cacheControl, custom: upload.options.custom,
                    replacesExisting: upload.options.replacesExisting, parts: upload.parts)
            },
            addresses: state.addresses.map {
                SavedFiles.Address(
                    token: $0.key, path: $0.value.path.rawValue, expiresAt: $0.value.expiresAt?.microseconds)
            })
    }

    // MARK: Messages

    private struct SavedInstallation: Codable {
        struct Message: Codable {
            let id: String
            let title: String?
            let body: String?
            let data: [String: String]
            let topic: String?
            let sentAt: Int64?
        }
        let token: String
        let topics: [String]
        let waiting: [Message]
    }

    private func loadMessages() throws(MockFile.Failure) {
        guard let saved = try folder.file("messages").decode([SavedInstallation].self) else { return }
        messages.restore(
            saved.map { one in
                let waiting = one.waiting.map { message in
                    RemoteMessage(
                        id: message.id, title: message.title, body: message.body, data: message.data,
                        topic: message.topic.flatMap { try? MessagingTopic(validating: $0) },
                        sentAt: message.sentAt.map { Timestamp(microseconds: $0) })
                }
                let topics = Set(one.topics.compactMap { try? MessagingTopic(validating: $0) })
                return (one.token, MockMessages.Installation(topics: topics, waiting: waiting))
            })
    }

    func saveMessages() {
        keep { (saved) throws(MockFile.Failure) in
            let (version, installations) = messages.installations
            guard version != saved.messages else { return }
            let records = installations.sorted { $0.key < $1.key }.map { token, installation in
                SavedInstallation(
                    token: token, topics: installation.topics.map(\.rawValue).sorted(),
                    waiting: installation.waiting.map { message in
                        SavedInstallation.Message(
                            id: message.id, title: message.title, body: message.body, data: message.data,
                            topic: message.topic?.rawValue, sentAt: message.sentAt?.microseconds)
                    })
            }
            try folder.file("messages").encode(records)
            saved.messages = version
        }
    }

    private func keep(_ body: (inout Saved) throws(MockFile.Failure) -> Void) {
        let failure = saved.withLock { saved -> MockFile.Failure? in
            // Another backend may use the folder by now.
            guard folder.lock.isHeld else { return nil }
            do throws(MockFile.Failure) {
                try body(&saved)
                return nil
            } catch {
                return error
            }
        }
        if let failure { report(failure.description) }
    }
}
