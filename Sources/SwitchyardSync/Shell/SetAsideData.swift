public import Foundation
public import Switchyard

/// Data on this device that could not be used when it was opened. It is kept under another name until the local data is
/// deleted, by a sign-out with that option or by hand.
public struct SetAsideData: Sendable, Hashable {
    public enum Reason: String, Sendable, Hashable {
        case damaged
        /// Written by a later version of this software.
        case newer
        /// A database of something else.
        case foreign
    }

    public let reason: Reason
    /// The new location of the database. Files with the same name and a suffix belong to it.
    public let location: URL
}

extension SyncedStorageClient {
    /// The data that was set aside when the storage was opened, if any; the client then began with an empty one. Opens the
    /// storage if necessary.
    ///
    /// Writes queued there have not been sent, so tell the user if you can.
    public func setAsideData() async throws(StorageError) -> SetAsideData? { try await engine.setAsideData() }
}

extension SyncEngine {
    func setAsideData() throws(StorageError) -> SetAsideData? {
        guard let store = try machine().store as? SQLiteStore, let aside = store.setAside else { return nil }
        let reason: SetAsideData.Reason =
            switch aside.reason {
            case .damaged: .damaged
            case .newer: .newer
            case .foreign: .foreign
            }
        return SetAsideData(reason: reason, location: aside.location)
    }
}
