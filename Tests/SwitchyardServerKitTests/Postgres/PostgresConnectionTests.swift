import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardServerKit

/// The small client of the local servers, against a real PostgreSQL.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresConnectionTests {
    private func withPool(_ body: (PostgresServer, PostgresPool) async throws -> Void) async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        let pool = PostgresPool(port: UInt16(server.port), user: "postgres", database: server.name, limit: 3)
        try await body(server, pool)
        await pool.close()
    }

    @Test func `Values travel both ways, nulls and large ones too`() async throws {
        try await withPool { _, pool in
            let large = String(repeating: "ü🎭", count: 200_000)
            let results = try await pool.run([
                PostgresStatement("select $1::text as a, $2::text as b, $3::int + 1 as c", [large, nil, "41"]),
                PostgresStatement("select n from generate_series(1, 3) n"),
                PostgresStatement("create temporary table t (x int)"),
            ])
            #expect(results.map(\.tag) == ["SELECT 1", "SELECT 3", "CREATE TABLE"])
            #expect(results[0].columns == ["a", "b", "c"])
            #expect(results[0].text == large)
            #expect(results[0].rows[0][1] == nil)
            #expect(results[0].rows[0][2].map { String(decoding: $0, as: UTF8.self) } == "42")
            #expect(results[1].rows.count == 3)
        }
    }

    @Test func `A failure undoes the unit it is in, and the connection goes on`() async throws {
        try await withPool { _, pool in
            _ = try await pool.run([PostgresStatement("create table t (x int primary key)")])
            let failure = await #expect(throws: PostgresFailure.self) {
                _ = try await pool.run([
                    PostgresStatement("insert into t values (1)"), PostgresStatement("insert into t values (1)"),
                    PostgresStatement("insert into t values (2)"),
                ])
            }
            #expect(failure?.code == "23505")
            #expect(failure?.details?.contains("already exists") == true)
            #expect(try await pool.run([PostgresStatement("select count(*) from t")])[0].text == "0")
        }
    }

    @Test func `A prepared statement is parsed once, also where an earlier unit with it has failed`() async throws {
        try await withPool { server, _ in
            let pool = PostgresPool(port: UInt16(server.port), user: "postgres", limit: 1)
            let sum = PostgresStatement("select $1::int + 1", ["1"], isKept: true)
            await #expect(throws: PostgresFailure.self) {
                _ = try await pool.run([sum, PostgresStatement("select 1/0")])
            }
            for number in 0..<7 {
                let results = try await pool.run([
                    PostgresStatement("select $1::int + 1", ["\(number)"], isKept: true), sum,
                ])
                #expect(results.map(\.text) == ["\(number + 1)", "2"])
            }
            let kept = try await pool.run([
                PostgresStatement("select count(*) from pg_prepared_statements where statement = 'select $1::int + 1'")
            ])
            #expect(kept[0].text == "1")
            await pool.close()
        }
    }

    @Test func `More prepared statements than a connection allows are parsed each time`() {
        var names = PostgresStatementNames(limit: 2)
        let statements = ["a", "b", "c"].map { PostgresStatement($0, isKept: true) } + [PostgresStatement("d")]
        names.prepare(statements)
        names.parsed(statements)
        #expect(statements.map { names.name(of: $0) != nil } == [true, true, false, false])
        #expect(statements.map(names.isReady) == [true, true, false, false])
    }

    @Test func `Many at once share a few connections, each with its own settings`() async throws {
        try await withPool { _, pool in
            try await withThrowingTaskGroup(of: (Int, String?).self) { group in
                for number in 0..<60 {
                    group.addTask {
                        let results = try await pool.run([
                            PostgresStatement("select set_config('my.name', $1, true)", ["\(number)"]),
                            PostgresStatement("select current_setting('my.name')"),
                        ])
                        return (number, results[1].text)
                    }
                }
                for try await (number, text) in group { #expect(text == "\(number)") }
            }
            let connections = try await pool.run([
                PostgresStatement(
                    """
                    select count(*) from pg_stat_activity
                    where backend_type = 'client backend' and datname = current_database()
                    """)
            ])
            #expect(connections[0].text.flatMap { Int($0) }.map { $0 <= 3 } == true)
            #expect(try await pool.run([PostgresStatement("select current_setting('my.name', true)")])[0].text == "")
        }
    }

    @Test func `Listeners receive notifications`() async throws {
        try await withPool { server, pool in
            let received = Mutex<[String]>([])
            let listener = try await PostgresConnection(
                port: UInt16(server.port), user: "postgres", database: server.name
            ) { channel, payload in received.withLock { $0.append("\(channel) \(payload)") } }
            _ = try await listener.run([PostgresStatement("listen news")])
            _ = try await pool.run([PostgresStatement("select pg_notify('news', 'one'), pg_notify('news', 'two')")])
            try await eventually("both were received") { received.withLock { $0 == ["news one", "news two"] } }
            listener.close()
        }
    }

    @Test func `An ended server fails what waits, and is found again when it is back`() async throws {
        let sleepers = "from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()"
        try await withPool { _, pool in
            let sleeping = Task { try await pool.run([PostgresStatement("select pg_sleep(60)")]) }
            try await eventually("it sleeps") {
                try await pool.run([
                    PostgresStatement("select 1 \(sleepers)")
                ])[0].text == "1"
            }
            _ = try await pool.run([
                PostgresStatement("select pg_terminate_backend(pid) \(sleepers)")
            ])
            let failure = await #expect(throws: PostgresFailure.self) { _ = try await sleeping.value }
            #expect(failure?.code == "57P01")
            #expect(try await pool.run([PostgresStatement("select 1")])[0].text == "1")
        }
    }
}
