public import Foundation
public import Switchyard

/// Data of this device that could not be used when it was opened: kept under another name until somebody has what is kept
/// on this device deleted, by a sign-out with that wish or by hand.
public struct SetAsideData: Sendable, Hashable {
    public enum Reason: String, Sendable, Hashable {
        case damaged
        /// Written by a later version of this software.
        case newer
        /// A database of something else.
        case foreign
    }

    public let reason: Reason
    /// Where the database is now. Files of the same name with an added ending belong to it.
    public let location: URL
}

extension SyncedStorageClient {
    /// What opening the storage had to put out of the way, if anything; the client then began with an empty one. Opens the
    /// storage if nothing has yet.
    ///
    /// Writes that were queued there have not been sent: an app that can should tell its user.
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
