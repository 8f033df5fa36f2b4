import Switchyard
import Testing

@testable import SwitchyardSync

/// What bundles have brought is as old as any other part of the cache.
@Suite struct BundleGarbageTests {
    private let query = Query(in: "rooms")
    private let local: LocalStore
    private var everything: CacheLimits {
        var limits = CacheLimits()
        (limits.threshold, limits.percentile) = (0, 100)
        return limits
    }

    init() throws {
        local = LocalStore(store: MemoryStore(), policy: .standard, owner: QueueOwner(nil))
        try local.open()
    }

    private func bundle(_ id: String = "b", at seconds: Int64 = 1) -> DocumentBundle {
        let time = Timestamp(microseconds: seconds * 1_000_000)
        let document = DocumentBundle.Document(
            snapshot: .existing("rooms/a", ["n": 1], updateTime: time), readTime: time, queries: ["rooms"])
        return DocumentBundle(
            id: id, version: 1, createTime: time,
            namedQueries: [DocumentBundle.NamedQuery(name: "rooms", query: query, readTime: time)],
            documents: [document])
    }

    @Test func `The collector removes the targets of a bundle, and its documents`() throws {
        _ = try local.apply(bundle())
        #expect(try local.document(at: "rooms/a")?.exists == true)
        let report = try local.collectGarbage(everything)
        #expect(report == CollectionReport(removedTargets: 2, removedDocuments: 1))
        #expect(try local.document(at: "rooms/a") == nil)
        #expect(try local.namedQuery("rooms") != nil)
    }

    @Test func `A query of a bundle stays while somebody listens to it`() throws {
        _ = try local.apply(bundle())
        let record = try local.allocate(LiveQuery.query(query).target)
        #expect(record.version == Timestamp(microseconds: 1_000_000))
        #expect(try local.collectGarbage(everything).removedTargets == 1)
        #expect(try local.document(at: "rooms/a")?.exists == true)
        local.forceRelease(record.id)
        #expect(try local.collectGarbage(everything).removedTargets == 1)
        #expect(try local.document(at: "rooms/a") == nil)
    }

    @Test func `A bundle that somebody listens to is brought up to date in place`() throws {
        let record = try local.allocate(LiveQuery.query(query).target)
        _ = try local.apply(bundle())
        #expect(local.active[record.id]?.version == Timestamp(microseconds: 1_000_000))
        #expect(local.active.count == 1)
    }

    @Test func `A bundle is loaded again if the collector has taken what it contained, and only then`() throws {
        _ = try local.apply(bundle())
        #expect(try local.apply(bundle()) == nil)
        _ = try local.collectGarbage(everything)
        #expect(try local.apply(bundle())?.keys.sorted() == ["rooms/a"])
        #expect(try local.document(at: "rooms/a")?.exists == true)
        _ = try local.apply(bundle(at: 2))
        _ = try local.collectGarbage(everything)
        #expect(try local.apply(bundle(at: 1)) == nil)
    }
}
