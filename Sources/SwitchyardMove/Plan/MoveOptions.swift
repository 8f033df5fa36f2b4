public import Switchyard

/// What is moved, and how.
public struct MoveOptions: Sendable {
    /// The names of the collections to move, wherever they are; all that can be found if it is empty.
    public var collections: [String] = []
    /// What takes part, of what both ends have.
    public var parts: Set<MovePart> = Set(MovePart.allCases)
    /// How many documents of each collection the plan reads; `nil` reads all. With fewer, it may miss collections below
    /// documents, and values that the target cannot hold; it says so.
    public var sample: Int? = 300
    /// How many pages of documents, and how many files, are copied at the same time.
    public var parallel = 8
    /// The maximum number of documents in a page; pages of large documents have fewer. A page in memory for each of
    /// ``parallel``, and the next one.
    public var pageSize = 500
    /// The fields with the ID of an account, or a list of such IDs: rewritten if the target gives accounts other IDs.
    public var ownerFields: [FieldPath] = []

    public init() {}
}

/// What can be moved.
public enum MovePart: String, Sendable, Hashable, Codable, CaseIterable {
    case accounts, documents, files
}
