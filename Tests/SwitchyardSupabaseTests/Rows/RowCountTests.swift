import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// How many requests it takes to know that a list is whole, since the service cuts long answers silently.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RowCountTests {
    /// The requests for a table's rows: whether each asked for their number.
    private final class Requests: Sendable {
        private let counted = Mutex<[Bool]>([])

        init(of supabase: LocalSupabase, answeringCounts answer: Fault? = nil) {
            supabase.faults.add(answer ?? .dropAnswer(), times: nil) { [weak self] request in
                guard request.rawPath.hasPrefix("/rest/v1/counted"), request.method == .get else { return false }
                let counts = request.headers["Prefer"] == "count=exact"
                self?.counted.withLock { $0.append(counts) }
                return counts && answer != nil
            }
        }

        /// Those since the last call.
        func take() -> [Bool] {
            counted.withLock { counted in
                defer { counted = [] }
                return counted
            }
        }
    }

    private static let sql = """
        create table public.counted_few (id bigint primary key, n int);
        insert into public.counted_few select generate_series(1, 7);
        create table public.counted_many (id bigint primary key, n int);
        insert into public.counted_many select generate_series(1, 25);
        grant all on public.counted_few, public.counted_many to authenticated;
        """

    private static let mappings = ["few", "many"].map {
        SupabaseTableMapping(collection: $0, table: "counted_\($0)", columns: ["n"])
    }

    private func withSite(
        cap: Int = 1_000, answeringCounts answer: Fault? = nil,
        _ body: (any StorageClient, TablesSite, Requests) async throws -> Void
    ) async throws {
        var options = LocalSupabaseOptions()
        options.maximumRows = cap
        let site = try await TablesSite(options)
        try await site.run(Self.sql)
        let requests = Requests(of: site.supabase, answeringCounts: answer)
        let storage = try await site.storage(Self.mappings)
        try await body(storage, site, requests)
        await storage.shutDown()
        await site.supabase.stop()
    }

    private func expect(_ count: Int, in collection: CollectionPath, _ storage: any StorageClient) async throws {
        let found = try await storage.documents(Query(in: collection), from: .server).count
        #expect(found == count)
    }

    @Test func `A list is read in one request, whether it is the longest so far or not`() async throws {
        try await withSite { storage, site, requests in
            try await expect(7, in: "few", storage)
            #expect(requests.take() == [true])
            try await expect(25, in: "many", storage)
            #expect(requests.take() == [true])
            // The longest list is counted each time; one that is known to be shorter is not.
            try await expect(25, in: "many", storage)
            try await expect(7, in: "few", storage)
            #expect(requests.take() == [true, false])
            try await site.run("insert into public.counted_many values (26)")
            try await expect(26, in: "many", storage)
            #expect(requests.take() == [true])
        }
    }

    @Test func `A list that has outgrown the others is still read to its end`() async throws {
        try await withSite(cap: 25) { storage, site, requests in
            try await expect(25, in: "many", storage)
            try await expect(7, in: "few", storage)
            _ = requests.take()
            try await site.run("insert into public.counted_few select generate_series(8, 60)")
            // It was shorter than the longest answer, so its number was not asked for.
            try await expect(60, in: "few", storage)
            #expect(requests.take() == [false, false, false])
            try await expect(60, in: "few", storage)
            #expect(requests.take() == [true, false, false])
        }
    }

    @Test func `Where counting takes too long, the rows are read without it`() async throws {
        let body = #"{"code":"57014","message":"canceling statement due to statement timeout"}"#
        try await withSite(answeringCounts: .answer(.json(Array(body.utf8), status: 500))) { storage, _, requests in
            try await expect(25, in: "many", storage)
            #expect(requests.take() == [true, false, false])
            try await expect(25, in: "many", storage)
            #expect(requests.take() == [false, false])
        }
    }
}
