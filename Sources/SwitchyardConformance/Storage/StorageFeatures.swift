public import Switchyard

/// What a storage client under test declares; decides which checks apply.
public struct StorageFeatures: Sendable, Hashable {
    /// The same as the clients' own.
    public var capabilities: StorageCapabilities
    /// The kinds of values that the harness's collections can hold, in the fields with these names.
    public var fields: Set<StorageField>
    /// Whether there is a document that the clients are not allowed to read.
    public var hasForbiddenDocument: Bool
    /// Whether a query never sees one write of a batch without the others. Even if a server guarantees this, its emulator may
    /// not.
    public var queriesSeeWholeBatches: Bool
    /// Whether a document may have any name. Without it, the harness makes a name that fits for each that a check uses:
    /// ``StorageHarness/documentID(_:)``.
    public var takesAnyName = true
    /// Whether documents can have the names that clients make up for new ones. Without it, the server numbers them.
    public var takesMadeUpNames = true

    public init(
        _ capabilities: StorageCapabilities, fields: Set<StorageField> = Set(StorageField.allCases),
        hasForbiddenDocument: Bool = false, queriesSeeWholeBatches: Bool = true
    ) {
        self.capabilities = capabilities
        self.fields = fields.union([.text, .number])
        self.hasForbiddenDocument = hasForbiddenDocument
        self.queriesSeeWholeBatches = queriesSeeWholeBatches
    }
}

public typealias StorageRequirement = ConformanceRequirement<StorageFeatures>

extension ConformanceRequirement where Features == StorageFeatures {
    static let liveStreams = Self("live streams") { $0.capabilities.liveStreams }
    static let transactions = Self("transactions") { $0.capabilities.transactions }
    static let collectionGroups = Self("collection groups") { $0.capabilities.collectionGroups }
    static let aggregates = Self("aggregates") { $0.capabilities.aggregates }
    static let listCollections = Self("lists of collections") { $0.capabilities.listCollections }
    static let recursiveDelete = Self("recursive deletion") { $0.capabilities.recursiveDelete }
    static let alternatives = Self("alternatives in filters") { $0.capabilities.alternatives }
    static let negations = Self("negations in filters") { $0.capabilities.negations }
    static let versions = Self("preconditions on versions") { $0.capabilities.versionPreconditions }
    static let openSchema = Self("an open schema") { $0.capabilities.openSchema }
    static let openTypes = Self("open types") { $0.capabilities.openTypes }
    static let mixedBatches = Self("mixed batches") { $0.capabilities.mixedBatches }
    static let transforms = Self("transforms") { $0.capabilities.transforms }
    static let offline = Self("offline operations") { $0.capabilities.offline }
    static let forbiddenDocument = Self("a forbidden document") { $0.hasForbiddenDocument }
    static let anyName = Self("names of any kind") { $0.takesAnyName }
    static let madeUpNames = Self("names that the client makes up") { $0.takesMadeUpNames }
    static let wholeBatches = Self("queries that see whole batches") { $0.queriesSeeWholeBatches }
    static let batchBound = Self("a bound on batches") { $0.capabilities.maximumBatchSize != nil }

    /// Batches of at least this many writes.
    static func batches(of count: Int) -> Self {
        Self("batches of \(count)") { features in features.capabilities.maximumBatchSize.map { $0 >= count } ?? true }
    }

    static func field(_ field: StorageField) -> Self { Self("the field “\(field)”") { $0.fields.contains(field) } }
}
