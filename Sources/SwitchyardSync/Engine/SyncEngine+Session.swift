import Switchyard

extension SyncEngine {
    /// Sets the owner of the write queue as users sign in and out, and deletes what they asked to be deleted.
    func follow(_ change: SessionFeed.Change) throws(StorageError) {
        switch change {
        case .wipe(let userID):
            // Before any data that will be wiped becomes visible.
            use(nil)
            if let userID { try wipe(of: QueueOwner(userID)) } else { try wipeLastUser() }
        case .state(let state):
            // Otherwise the screens of that user would go on as no one's, and what is edited there as well.
            if state.isEndedByServer, owner != QueueOwner(nil) { endStreams(because: .sessionEndedByServer) }
            use(state.user?.id)
        }
    }

    private func use(_ userID: AuthUser.ID?) { if owner != QueueOwner(userID) { setUser(userID) } }
}
