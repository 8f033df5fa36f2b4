import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import Synchronization

/// The objects of all buckets: their metadata in memory, their contents in a folder.
final class LocalBuckets: Sendable {
    private struct Key: Hashable {
        let bucket: String
        let name: String
    }

    private struct State {
        var objects: [Key: LocalFile] = [:]
        var lastGeneration: Int64 = 0
    }

    private let folder: URL
    private let isTemporary: Bool
    private let state: Mutex<State>

    /// - Parameter folder: The folder for objects that outlive the process; `nil` for a temporary one.
    init(_ folder: URL?) throws(LocalFirebaseError) {
        isTemporary = folder == nil
        self.folder = folder ?? ProcessFolder.place("switchyard-files")
        do {
            try FileManager.default.createDirectory(
                at: self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw LocalFirebaseError("The folder for files cannot be made; check its permissions.")
        }
        var kept = State()
        for name in (try? FileManager.default.contentsOfDirectory(atPath: self.folder.path)) ?? [] {
            let file = self.folder.appendingPathComponent(name)
            guard name.hasSuffix(Self.ending), let data = try? Data(contentsOf: file) else { continue }
            guard let json = try? JSON(parsing: [UInt8](data)), let object = LocalFile(kept: json) else {
                throw LocalFolder.unreadable(name)
            }
            kept.objects[Key(bucket: object.bucket, name: object.name)] = object
            kept.lastGeneration = max(kept.lastGeneration, object.generation)
        }
        state = Mutex(kept)
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

    /// Stores an object, replacing an existing one.
    func store(
        _ bucket: String, _ name: String, _ contents: ServerContents, _ description: JSONObject, now: Timestamp
    ) -> LocalFile {
        let file = URL(fileURLWithPath: contents.path).lastPathComponent
        let sums = contents.sums
        let (object, old) = state.withLock { state in
            state.lastGeneration = max(now.microseconds, state.lastGeneration + 1)
            let object = LocalFile(
                file: file, bucket: bucket, name: name, generation: state.lastGeneration, contents: sums,
                description: description, now: now)
            return (object, state.objects.updateValue(object, forKey: Key(bucket: bucket, name: name)))
        }
        keep(object)
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
        if let object { keep(object) }
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

    private func keep(_ object: LocalFile) {
        guard !isTemporary else { return }
        let place = folder.appendingPathComponent(object.file + Self.ending)
        try? Data(object.kept.bytes()).write(to: place, options: .atomic)
    }

    private func discard(_ object: LocalFile) {
        try? FileManager.default.removeItem(at: folder.appendingPathComponent(object.file + Self.ending))
        try? FileManager.default.removeItem(at: folder.appendingPathComponent(object.file))
    }
}
