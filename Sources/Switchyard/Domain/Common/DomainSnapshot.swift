/// What a domain client knows at one moment, and where it comes from: the streams of ``UserClient/currentUserSnapshots()`` and
/// its siblings.
///
/// Unlike the streams of bare values, these also deliver when only the origin has changed.
public struct DomainSnapshot<Value: Sendable>: Sendable {
    public let value: Value
    /// Whether the server has not confirmed that this is its current state.
    public let isFromCache: Bool
    /// Whether this includes local writes that the server has not confirmed.
    public let hasPendingWrites: Bool
    /// The IDs of the elements that include such writes: of contacts, check-ins, notifications, or of the user.
    public let pendingIDs: Set<String>
    /// Why the server has not confirmed it; `nil` while nothing is known to be wrong. The stream goes on.
    public let serverError: DomainError?

    public init(
        _ value: Value, isFromCache: Bool = false, hasPendingWrites: Bool = false, pendingIDs: Set<String> = [],
        serverError: DomainError? = nil
    ) {
        self.value = value
        self.isFromCache = isFromCache
        self.hasPendingWrites = hasPendingWrites
        self.pendingIDs = pendingIDs
        self.serverError = serverError
    }

    /// The same snapshot of another value.
    public func map<NewValue: Sendable>(_ transform: (Value) -> NewValue) -> DomainSnapshot<NewValue> {
        DomainSnapshot<NewValue>(
            transform(value), isFromCache: isFromCache, hasPendingWrites: hasPendingWrites, pendingIDs: pendingIDs,
            serverError: serverError)
    }
}

extension DomainSnapshot: Equatable where Value: Equatable {}
extension DomainSnapshot: Hashable where Value: Hashable {}

extension DomainSnapshot: CustomStringConvertible {
    /// Where it comes from, without the value.
    public var description: String {
        let origin = isFromCache ? "from the cache" : "from the server"
        let parts =
            [origin] + (hasPendingWrites ? ["with pending writes"] : []) + (serverError.map { ["\($0.code)"] } ?? [])
        return "DomainSnapshot(\(parts.joined(separator: ", ")))"
    }
}

extension DomainSnapshot {
    /// A document as `value`.
    init(_ document: DocumentSnapshot, _ value: Value) {
        let metadata = document.metadata
        self.init(
            value, isFromCache: metadata.isFromCache, hasPendingWrites: metadata.hasPendingWrites,
            pendingIDs: metadata.hasPendingWrites ? [document.id] : [],
            serverError: metadata.serverError.map { DomainError($0) })
    }

    /// The results of a query as `value`.
    init(_ results: QuerySnapshot, _ value: Value) {
        let pending = results.metadata.hasPendingWrites ? results.documents.filter(\.metadata.hasPendingWrites) : []
        self.init(
            value, isFromCache: results.metadata.isFromCache, hasPendingWrites: results.metadata.hasPendingWrites,
            pendingIDs: Set(pending.map(\.id)), serverError: results.metadata.serverError.map { DomainError($0) })
    }

    /// The results of a query, those that `make` understands.
    static func list<Model>(
        _ results: QuerySnapshot, _ make: (DocumentSnapshot) -> Model?
    ) -> DomainSnapshot where Value == [Model] { DomainSnapshot(results, results.documents.compactMap(make)) }
}

extension ListenOptions {
    /// For streams whose elements tell where they come from.
    static var withMetadata: ListenOptions { ListenOptions(includesMetadataChanges: true) }
}

extension SnapshotStream where Failure == DomainError {
    /// The elements of a client that does not tell their origin.
    package func asDomainSnapshots() -> SnapshotStream<DomainSnapshot<Element>, DomainError> {
        mapElements { DomainSnapshot($0) }
    }
}
