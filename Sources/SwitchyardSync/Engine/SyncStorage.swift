public import Foundation
public import Switchyard

/// Where a ``SyncedStorageClient`` keeps its cache and its queue.
public struct SyncStorage: Sendable, Hashable {
    enum Place: Sendable, Hashable {
        case memory
        case folder(URL)
    }

    let place: Place
    let policy: CachePolicy
    var isOnDisk: Bool { if case .folder = place { true } else { false } }

    /// Lasts as long as the client.
    public static let memory = SyncStorage(place: .memory, policy: .standard)

    /// Lasts as long as the client, but drops each document with the last stream or queued write that needs it. For
    /// long-running programs that read many documents once.
    public static let memoryWhileInUse = SyncStorage(place: .memory, policy: .eager)

    /// In its own folder, which is created if missing and serves one client at a time.
    ///
    /// - Parameters:
    ///   - url: The folder. Keep nothing else in it.
    ///   - maximumBytes: Above approximately this size, the least recently used documents are removed, a few at a time.
    public static func folder(_ url: URL, maximumBytes: Int64 = 100 << 20) -> SyncStorage {
        var limits = CacheLimits()
        limits.threshold = maximumBytes
        return SyncStorage(place: .folder(url), policy: .leastRecentlyUsed(limits))
    }

    /// Deletes a user's data in a folder that no client is using: the cache, databases that were set aside, and the user's
    /// queue. The queues of other users stay. Creates nothing if the folder does not exist.
    ///
    /// - Parameter userID: The user whose data to delete; `nil` for the last signed-in user.
    /// - Throws: `.localStore`, also while a client uses the folder.
    public func wipe(of userID: String?) throws(StorageError) {
        guard case .folder(let folder) = place, FileManager.default.fileExists(atPath: folder.path) else { return }
        let store = try SQLiteStore(folder: folder)
        defer { store.close() }
        let last = try store.transaction(.open) { rows throws(StorageError) in try rows.globals.lastUserID }
        guard let userID = userID ?? last else { return }
        try store.wipe(of: QueueOwner(userID))
    }

    func open() throws(StorageError) -> any SyncStore {
        switch place {
        case .memory: MemoryStore()
        case .folder(let url): try SQLiteStore(folder: url)
        }
    }
}

extension SyncStorage {
    /// Deletes the data in a folder that no client is using: the cache and one user's queue.
    ///
    /// - Parameter userID: The user whose queue to delete; `nil` for the last signed-in user.
    package static func wipe(_ folder: URL, of userID: String?) throws(InfrastructureError) {
        do throws(StorageError) {
            try SyncStorage.folder(folder).wipe(of: userID)
        } catch {
            throw InfrastructureError(
                error.underlying is StoreIsLocked ? .locked : .localStore, error.message, underlying: error)
        }
    }
}

extension StoreClaim {
    /// - Returns: `nil` if the folder cannot be used; the first call that needs it reports why.
    /// - Throws: `.locked` while another client has the folder.
    static func take(_ folder: URL) throws(InfrastructureError) -> StoreClaim? {
        do throws(StorageError) {
            return try StoreClaim(folder)
        } catch {
            guard error.underlying is StoreIsLocked else { return nil }
            throw InfrastructureError(.locked, error.message, underlying: error)
        }
    }
}
