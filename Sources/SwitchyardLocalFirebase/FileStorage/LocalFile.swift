import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import Synchronization

/// A stored object with its metadata.
struct LocalFile: Sendable {
    /// The name of the file that holds the contents.
    let file: String
    let bucket: String
    let name: String
    let generation: Int64
    let size: Int64
    let md5: [UInt8]
    let crc32c: UInt32
    let createdAt: Timestamp
    var metageneration: Int64 = 1
    var updatedAt: Timestamp
    /// Fields that the client sets and may change, such as `contentType`.
    var fields: JSONObject
    /// Custom metadata: strings by name. `nil` once it was removed as a whole.
    var custom: JSONObject?
    var downloadTokens: [String]

    static let writableFields = [
        "contentType", "contentEncoding", "contentDisposition", "contentLanguage", "cacheControl",
    ]

    /// - Parameters:
    ///   - description: The client's description of the object when it was uploaded.
    ///   - isByServer: Whether one of the project's servers stores it; then nothing is added that it did not say.
    init(
        file: String, bucket: String, name: String, generation: Int64, contents: ServerContents.Sums,
        description: JSONObject, isByServer: Bool, now: Timestamp
    ) {
        self.file = file
        self.bucket = bucket
        self.name = name
        self.generation = generation
        size = contents.size
        md5 = contents.md5
        crc32c = contents.crc32c
        createdAt = now
        updatedAt = now
        fields = ["contentType": "application/octet-stream"]
        if !isByServer { fields["contentDisposition"] = "inline" }
        for name in Self.writableFields {
            if let text = description[name]?.string { fields[name] = .string(text) }
        }
        custom = [:]
        downloadTokens = []
        note(description["metadata"]?.object ?? [:])
        if downloadTokens.isEmpty, !isByServer { downloadTokens = [RandomID.uuid()] }
    }

    /// What a copy takes over.
    var description: JSONObject {
        var description = fields
        description["metadata"] = custom.map { .object($0) }
        return description
    }

    static let tokensName = "firebaseStorageDownloadTokens"

    /// Adds custom metadata, and removes entries that are null. Everything else is stored as text.
    private mutating func note(_ notes: JSONObject) {
        var all = custom ?? [:]
        for note in notes {
            // Stored with the custom metadata, where other tools look for them, but shown separately.
            if note.key == Self.tokensName {
                let tokens = note.value.string?.split(separator: ",").map(String.init) ?? []
                downloadTokens += tokens.filter { !downloadTokens.contains($0) }
            } else {
                all[note.key] = note.value.isNull ? nil : .string(note.value.string ?? note.value.text())
            }
        }
        custom = all
    }

    var contentType: String { fields["contentType"]?.string ?? "application/octet-stream" }
    var etag: String { Base64.encode(Array("\(generation)/\(metageneration)".utf8), padding: .absent) }
    var hash: String { "crc32c=\(Base64.encode(crcBytes)),md5=\(Base64.encode(md5))" }
    private var crcBytes: [UInt8] { withUnsafeBytes(of: crc32c.bigEndian) { Array($0) } }

    /// The metadata in responses. 64-bit integers are strings.
    var resource: JSON {
        var object: JSONObject = [
            "name": .string(name), "bucket": .string(bucket), "generation": .string(String(generation)),
            "metageneration": .string(String(metageneration)), "timeCreated": .string(Self.text(createdAt)),
            "updated": .string(Self.text(updatedAt)), "storageClass": "STANDARD", "size": .string(String(size)),
            "md5Hash": .string(Base64.encode(md5)), "crc32c": .string(Base64.encode(crcBytes)), "etag": .string(etag),
            "downloadTokens": .string(downloadTokens.joined(separator: ",")), "contentEncoding": "identity",
        ]
        for member in fields { object[member.key] = member.value }
        object["metadata"] = custom.map { .object($0) }
        return .object(object)
    }

    /// How a browser should treat the contents, and the file name.
    var disposition: String {
        let name = self.name.split(separator: "/").last.map(String.init) ?? self.name
        return "\(fields["contentDisposition"]?.string ?? "attachment"); filename*=\(PercentCoding.encode(name))"
    }

    /// The headers of answers to changes.
    var changedHeaders: [(String, String)] {
        [
            ("Content-Disposition", "contentDisposition"), ("Content-Encoding", "contentEncoding"),
            ("Cache-Control", "cacheControl"), ("Content-Language", "contentLanguage"),
        ].compactMap { header, field in fields[field]?.string.map { (header, $0) } }
    }

    private static func text(_ time: Timestamp) -> String {
        RFC3339.format(.init(seconds: time.seconds, nanoseconds: time.nanoseconds), fraction: .digits(3))
    }

    /// Applies a client's changes: absent fields stay, `null` removes, custom metadata is merged.
    mutating func patch(_ changes: JSONObject, now: Timestamp) {
        for name in Self.writableFields {
            guard let value = changes[name] else { continue }
            fields[name] = value.isNull ? nil : value
        }
        switch changes["metadata"] {
        case .null?: custom = nil
        case let notes?: note(notes.object ?? [:])
        case nil: break
        }
        metageneration += 1
        updatedAt = now
    }

    /// The same for one of the project's servers, which may also set or remove the tokens.
    mutating func patchByServer(_ changes: JSONObject, now: Timestamp) {
        if let tokens = changes["metadata"]?[Self.tokensName] {
            downloadTokens = tokens.string?.split(separator: ",").map(String.init) ?? []
        }
        patch(changes, now: now)
    }

    /// Removes all that a client may set, before an update that replaces it.
    mutating func clear() {
        for name in Self.writableFields { fields[name] = nil }
        custom = nil
        downloadTokens = []
    }

    // MARK: Persistence

    var saved: JSON {
        [
            "file": .string(file), "resource": resource, "fields": .object(fields),
            "created": .integer(createdAt.microseconds), "updated": .integer(updatedAt.microseconds),
        ]
    }

    /// - Returns: `nil` for anything that `saved` did not write.
    init?(saved: JSON) {
        guard let file = saved["file"]?.string, let resource = saved["resource"], let name = resource["name"]?.string,
            let bucket = resource["bucket"]?.string, let fields = saved["fields"]?.object,
            let generation = resource["generation"]?.string.flatMap({ Int64($0) }),
            let metageneration = resource["metageneration"]?.string.flatMap({ Int64($0) }),
            let size = resource["size"]?.string.flatMap({ Int64($0) }),
            let md5 = resource["md5Hash"]?.string.flatMap({ Base64.decode($0) }),
            let crc = resource["crc32c"]?.string.flatMap({ Base64.decode($0) }), crc.count == 4,
            let created = saved["created"]?.int64, let updated = saved["updated"]?.int64
        else { return nil }
        (self.file, self.bucket, self.name, self.generation, self.size) = (file, bucket, name, generation, size)
        self.md5 = md5
        crc32c = crc.reduce(0) { $0 << 8 | UInt32($1) }
        createdAt = Timestamp(microseconds: created)
        updatedAt = Timestamp(microseconds: updated)
        self.metageneration = metageneration
        self.fields = fields
        custom = resource["metadata"]?.object
        downloadTokens = (resource["downloadTokens"]?.string ?? "").split(separator: ",").map(String.init)
    }
}

/// The objects of all buckets: their metadata in memory, their contents in a folder.
final class LocalBuckets: Sendable {
    private struct Key: Hashable {
        let bucket: String
        let name: String
    }

    private struct State {
        var objects: [Key: LocalFile] = [:]
        /// Buckets that servers have made; others exist as long as they have objects.
        var made: Set<String> = []
        var lastGeneration: Int64 = 0
    }

    private let folder: URL
    private let isTemporary: Bool
    private let state: Mutex<State>

    /// - Parameter folder: The folder for objects that outlive the process; `nil` for a temporary one.
    init(_ folder: URL?) throws(LocalFirebaseError) {
        isTemporary = folder == nil
        self.folder = folder ?? ProcessFolder.unique("switchyard-files")
        do {
            try FileManager.default.createDirectory(
                at: self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw LocalFirebaseError("The folder for files cannot be made; check its permissions.")
        }
        var saved = State()
        for name in (try? FileManager.default.contentsOfDirectory(atPath: self.folder.path)) ?? [] {
            let file = self.folder.appendingPathComponent(name)
            guard name.hasSuffix(Self.ending), let data = try? Data(contentsOf: file) else { continue }
            guard let json = try? JSON(parsing: [UInt8](data)), let object = LocalFile(saved: json) else {
                throw LocalFolder.unreadable(name)
            }
            saved.objects[Key(bucket: object.bucket, name: object.name)] = object
            saved.lastGeneration = max(saved.lastGeneration, object.generation)
        }
        state = Mutex(saved)
    }

    deinit { if isTemporary { try? FileManager.default.removeItem(at: folder) } }

    private static let ending = ".object"

    func path(of object: LocalFile) -> String { folder.appendingPathComponent(object.file).path }

    /// Creates a file for uploaded contents.
    func receive() throws(ServerContents.Failure) -> ServerContents {
        try ServerContents(folder.appendingPathComponent(RandomID.make() + ".contents").path)
    }

    // MARK: Objects

    func object(_ bucket: String, _ name: String) -> LocalFile? {
        state.withLock { $0.objects[Key(bucket: bucket, name: name)] }
    }

    func names(in bucket: String) -> [String] {
        state.withLock { state in state.objects.keys.filter { $0.bucket == bucket }.map(\.name) }
    }

    var bucketNames: Set<String> { state.withLock { $0.made.union($0.objects.keys.map(\.bucket)) } }
    func add(bucket: String) { state.withLock { _ = $0.made.insert(bucket) } }
    func remove(bucket: String) { state.withLock { _ = $0.made.remove(bucket) } }

    /// The contents of objects one after the other, as new contents.
    func copy(_ objects: [LocalFile]) throws(ServerContents.Failure) -> ServerContents {
        let contents = try receive()
        do throws(ServerContents.Failure) {
            let writer = contents.takeOver()
            for object in objects { try contents.append(fileAt: path(of: object), by: writer) }
        } catch {
            contents.discard()
            throw error
        }
        return contents
    }

    /// Stores an object, replacing an existing one.
    func store(
        _ bucket: String, _ name: String, _ contents: ServerContents, _ description: JSONObject,
        isByServer: Bool = false, now: Timestamp
    ) -> LocalFile {
        let file = URL(fileURLWithPath: contents.path).lastPathComponent
        let sums = contents.sums
        let (object, old) = state.withLock { state in
            state.lastGeneration = max(now.microseconds, state.lastGeneration + 1)
            let object = LocalFile(
                file: file, bucket: bucket, name: name, generation: state.lastGeneration, contents: sums,
                description: description, isByServer: isByServer, now: now)
            return (object, state.objects.updateValue(object, forKey: Key(bucket: bucket, name: name)))
        }
        save(object)
        if let old { discard(old) }
        return object
    }

    func change(_ bucket: String, _ name: String, _ body: (inout LocalFile) -> Void) -> LocalFile? {
        let key = Key(bucket: bucket, name: name)
        let object = state.withLock { state -> LocalFile? in
            guard var object = state.objects[key] else { return nil }
            body(&object)
            state.objects[key] = object
            return object
        }
        if let object { save(object) }
        return object
    }

    func remove(_ bucket: String, _ name: String) -> Bool {
        let old = state.withLock { $0.objects.removeValue(forKey: Key(bucket: bucket, name: name)) }
        if let old { discard(old) }
        return old != nil
    }

    func removeAll() {
        let all = state.withLock { state in
            defer { state.objects = [:] }
            return Array(state.objects.values)
        }
        for object in all { discard(object) }
    }

    // MARK: Persistence

    private func save(_ object: LocalFile) {
        guard !isTemporary else { return }
        let url = folder.appendingPathComponent(object.file + Self.ending)
        try? Data(object.saved.bytes()).write(to: url, options: .atomic)
    }

    private func discard(_ object: LocalFile) {
        try? FileManager.default.removeItem(at: folder.appendingPathComponent(object.file + Self.ending))
        try? FileManager.default.removeItem(at: folder.appendingPathComponent(object.file))
    }
}
