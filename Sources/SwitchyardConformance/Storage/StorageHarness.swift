public import Switchyard

/// Supplied by the author of a storage provider to run the checks.
///
/// ```swift
/// struct AcmeHarness: StorageHarness {
///     let features = StorageFeatures(AcmeStorageAdapter.capabilities)
///     func makeStorageClient() async throws -> any StorageClient { AcmeStorageAdapter(server: "http://localhost:9000") }
/// }
/// ```
public protocol StorageHarness: Sendable {
    var features: StorageFeatures { get }

    /// A new client for each call: another device of a user who may see and change what the others write. It is shut down
    /// after the check.
    func makeStorageClient() async throws -> any StorageClient

    /// An empty collection for the exclusive use of the check in `namespace`. Collections of one namespace have different
    /// parents but may share their last segment, as in a backend where that names a table.
    ///
    /// The default is `conformance/<namespace>-<name>/items`. A backend with fixed tables maps the namespace to a parent key.
    func collection(_ name: String, in namespace: ConformanceNamespace) async throws -> CollectionPath

    /// The name of the document that a check calls `name`. Different names must give different ones, in the same order.
    ///
    /// The default is `name` itself. A backend whose names are UUIDs or numbers encodes it; checks use lower-case letters and
    /// digits, up to eleven. It then does not declare ``StorageFeatures/takesAnyName``.
    func documentID(_ name: String) -> String

    /// A document that the clients may not read. Needs ``StorageFeatures/hasForbiddenDocument``.
    func forbiddenDocument(in namespace: ConformanceNamespace) async throws -> StoragePath

    /// Called after the check's documents are deleted: removes what only the harness knows about. The default does nothing.
    func cleanUp(_ namespace: ConformanceNamespace) async throws
}

extension StorageHarness {
    public func collection(_ name: String, in namespace: ConformanceNamespace) async throws -> CollectionPath {
        try CollectionPath(validating: "conformance/\(namespace)-\(name)/items")
    }

    public func documentID(_ name: String) -> String { name }

    public func forbiddenDocument(in namespace: ConformanceNamespace) async throws -> StoragePath {
        throw ConformanceFailure(
            expectation: "the harness has a forbidden document, as its features say", found: "none")
    }

    public func cleanUp(_ namespace: ConformanceNamespace) async throws {}
}

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
    static let openSchema = Self("an open schema", remedy: "collections that the provider does not map to tables") {
        $0.capabilities.openSchema
    }
    static let openTypes = Self("open types", remedy: "collections that the provider does not map to tables") {
        $0.capabilities.openTypes
    }
    static let mixedBatches = Self("mixed batches", remedy: "collections that the provider does not map to tables") {
        $0.capabilities.mixedBatches
    }
    static let transforms = Self("transforms") { $0.capabilities.transforms }
    static let offline = Self("offline operations", remedy: "a provider with a local store") { $0.capabilities.offline }
    static let forbiddenDocument = Self(
        "a forbidden document", remedy: "a harness of your own, in a test, that has one"
    ) { $0.hasForbiddenDocument }
    static let anyName = Self("names of any kind", remedy: "documents whose names are text") { $0.takesAnyName }
    static let madeUpNames = Self("names that the client makes up", remedy: "documents whose names are text") {
        $0.takesMadeUpNames
    }
    static let wholeBatches = Self(
        "queries that see whole batches", remedy: "a server that guarantees it, which emulators may not"
    ) { $0.queriesSeeWholeBatches }
    static let batchBound = Self("a bound on batches", remedy: "a provider that has one") {
        $0.capabilities.maximumBatchSize != nil
    }

    /// Batches of at least this many writes.
    static func batches(of count: Int) -> Self {
        Self("batches of \(count)", remedy: "a provider with larger batches") { features in
            features.capabilities.maximumBatchSize.map { $0 >= count } ?? true
        }
    }

    static func field(_ field: StorageField) -> Self {
        Self("the field “\(field)”", remedy: "a column for it in the table that the checks use") {
            $0.fields.contains(field)
        }
    }
}

/// The behaviour of `StorageClient`, as checks that every provider passes according to its capabilities.
public enum StorageConformance {
    public static let all: [StorageCheck] = [
        fieldChecks, valueChecks, documentChecks, updateChecks, preconditionChecks, transformChecks, batchChecks,
        filterChecks, openFilterChecks, orderChecks, cursorChecks, windowChecks, groupChecks, aggregateChecks,
        transactionChecks, streamChecks, queryStreamChecks, offlineChecks, receiptChecks, refusalChecks, inputChecks,
        mistakeChecks,
        lifeChecks,
    ].flatMap { $0 }

    /// The checks that apply to a provider with these features.
    public static func checks(for features: StorageFeatures) -> [StorageCheck] { all.applicable(to: features) }

    /// The names of the checks that are skipped for a provider with these features. Pin this list in a test, to notice a lost
    /// capability.
    public static func leftOut(for features: StorageFeatures) -> [String] { all.leftOut(for: features) }
}

/// The fields that the checks use where a backend may have fixed columns: one for each kind of value.
///
/// A backend without a fixed schema has them all. A backend with tables declares those for which its table has a column with
/// that name and type; ``text`` and ``number`` are always required.
public enum StorageField: String, Sendable, Hashable, CaseIterable {
    case text
    /// Whole numbers of 64 bits.
    case number
    /// Numbers with a fraction.
    case ratio
    case flag
    /// A time, to the microsecond.
    case moment
    case blob
    case link
    case place
    /// An array of strings.
    case tags
    case vector
    case info

    public var path: FieldPath { FieldPath(stringLiteral: rawValue) }

    /// A value of the field's kind.
    var example: DocumentValue {
        switch self {
        case .text: "straße"
        case .number: 42
        case .ratio: 0.5
        case .flag: true
        case .moment: .time(1_700_000_000, microseconds: 123_456)
        case .blob: .blob(0, 1, 127, 128, 255)
        case .link: .link("users/alice")
        case .place: .place(59.5, 10.75)
        case .tags: ["red", "green"]
        case .vector: .vector([1, -0.5, 2.25])
        case .info: ["city": "Oslo", "zip": 150]
        }
    }
}
