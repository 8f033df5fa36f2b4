public import Switchyard

/// A batch on its way to the server.
public struct OutgoingBatch: Sendable {
    /// The batch's name in the ledger: the same at every attempt, and never that of another batch.
    public let id: String
    public let writes: [DocumentWrite]
    /// Whether an earlier attempt may have reached the server.
    public internal(set) var mayHaveBeenSent: Bool
    /// The user whose queue holds the batch; never send it in another user's name. `nil` if no one was signed in.
    public let userID: String?
    /// With ``SyncDriverTraits/usesTags``: for each write, the tag that the cached document had, without pending writes, when
    /// the batch was first sent. `nil` for a document without a known tag.
    ///
    /// The same at every attempt, also after a restart: a document whose tag is another one by now has changed since, by this
    /// batch or by somebody else. Empty for batches that were never queued.
    public let bases: [DocumentTag?]
    /// Whether it adds a document under a name that the server makes.
    package let isAddition: Bool

    public init(
        id: String, writes: [DocumentWrite], mayHaveBeenSent: Bool, userID: String? = nil, bases: [DocumentTag?] = []
    ) {
        self.init(
            id: id, writes: writes, mayHaveBeenSent: mayHaveBeenSent, userID: userID, bases: bases, isAddition: false)
    }

    package init(
        id: String, writes: [DocumentWrite], mayHaveBeenSent: Bool, userID: String?, bases: [DocumentTag?],
        isAddition: Bool
    ) {
        self.isAddition = isAddition
        self.id = id
        self.writes = writes
        self.mayHaveBeenSent = mayHaveBeenSent
        self.userID = userID
        self.bases = bases
    }
}
