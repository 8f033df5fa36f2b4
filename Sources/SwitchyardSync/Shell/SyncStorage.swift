public import Foundation
import Switchyard

/// Where a ``SyncedStorageClient`` keeps its cache and its queue.
public struct SyncStorage: Sendable, Hashable {
    enum Place: Sendable, Hashable {
        case memory
        case folder(URL)
    }

    let place: Place
    let policy: CachePolicy

    /// Gone with the client.
    public static let memory = SyncStorage(place: .memory, policy: .standard)

    /// Gone with the client, and each document with the last stream or queued write that needs it: for programs that run for
    /// long and look at much once.
    public static let memoryWhileInUse = SyncStorage(place: .memory, policy: .eager)

    /// In a folder of its own, made when it is missing, for one client at a time.
    ///
    /// - Parameters:
    ///   - url: The folder; nobody else keeps anything in it.
    ///   - maximumBytes: Above about this size, what was not used for longest is removed little by little.
    public static func folder(_ url: URL, maximumBytes: Int64 = 100 << 20) -> SyncStorage {
        var limits = CacheLimits()
        limits.threshold = maximumBytes
        return SyncStorage(place: .folder(url), policy: .leastRecentlyUsed(limits))
    }

    func open() throws(StorageError) -> any SyncStore {
        switch place {
        case .memory: MemoryStore()
        case .folder(let url): try SQLiteStore(folder: url)
        }
    }
}
