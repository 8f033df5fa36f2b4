import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Streams of those who have sent a request to a server, prompted by the realtime service of a local Supabase.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct CallerStreamTests {
    /// A server over a project in which everybody reads and writes notes.
    private struct Bed: Sendable {
        let clock = MovedClock()
        let supabase: LocalSupabase
        let backend: Infrastructure
        /// Counts reads.
        let transport = CountingTransport(CurlTransport(), counting: "switchyard_changes")
        let log = EventLog()

        /// - Parameter interval: How often a live query polls.
        init(lookingEvery interval: Duration) async throws {
            var server = LocalSupabaseOptions()
            server.now = { [clock] in clock.now }
            supabase = try await LocalSupabase.onSharedPostgres(server)
            // Behind the service's own tables, so that its policies on channels are there.
            let connection = try await supabase.database.connect()
            try await connection.run(script: DocumentSchema.sql)
            connection.close()
            _ = try await supabase.database.run([
                PostgresStatement("insert into switchyard.rules values ('notes', 'authenticated', 'authenticated')")
            ])
            var configuration = SupabaseConfiguration(url: supabase.server.url, key: Secret(supabase.anonKey))
            configuration.serviceKey = Secret(supabase.serviceKey)
            configuration.checkInterval = interval
            var options = InfrastructureOptions()
            options.observer = log
            backend = try await Infrastructure(
                SupabaseModule(configuration, transport: { [transport] in transport }), in: options)
        }

        func caller(_ user: AuthUser.ID) -> VerifiedToken {
            VerifiedToken(
                token: Secret(supabase.accessToken(for: user)), provider: .supabase, userID: user, issuer: "test",
                expiresAt: Date(timeIntervalSinceNow: 3600))
        }

        /// Another one each time.
        func client(_ caller: VerifiedToken) async throws -> any StorageClient {
            try await backend.acting(as: caller).storage
        }

        func stop() async {
            await backend.shutDown()
            await supabase.stop()
        }
    }

    private static func with(_ bed: Bed, _ body: (Bed) async throws -> Void) async throws {
        do {
            try await body(bed)
        } catch {
            await bed.stop()
            throw error
        }
        await bed.stop()
    }

    @Test func `A caller receives at once what others write, on a socket for all streams with the token`() async throws
    {
        // Nothing polls during a test.
        try await Self.with(Bed(lookingEvery: .seconds(3600))) { bed in
            let (ann, ben) = (bed.caller("ann"), bed.caller("ben"))
            try await bed.client(ben).setDocument("notes/a", ["n": 1])
            #expect(bed.supabase.realtimeSessions.isEmpty, "who opens no stream needs no socket")
            let readers = [
                FollowedDocument("notes/a", on: try await bed.client(ann)),
                FollowedDocument("notes/a", on: try await bed.client(ann)),
            ]
            for reader in readers { try await eventually("the document") { reader.number == 1 } }
            for number in 2...4 {
                try await bed.client(ben).setDocument("notes/a", ["n": .of(number)])
                for reader in readers {
                    try await eventually("the number \(number)") { reader.number == Int64(number) }
                }
            }
            let sessions = bed.supabase.realtimeSessions
            #expect(sessions.count == 1)
            // For both streams together: one or two at the beginning, one at the confirmation, and some for each write.
            #expect(bed.transport.count < 20)

            let other = FollowedDocument("notes/a", on: try await bed.client(ben))
            try await eventually("the document") { other.number == 4 }
            try await eventually("the other caller has a socket, too") { bed.supabase.realtimeSessions.count == 2 }
            readers[0].leave()
            // From any client with the token, also one that has no stream.
            try await bed.client(ann).setDocument("notes/a", ["n": 5])
            for reader in [readers[1], other] { try await eventually("the number 5") { reader.number == 5 } }
            #expect(bed.supabase.realtimeSessions.isSuperset(of: sessions))
            readers[1].leave()
            try await eventually("the caller's socket is closed, and the other's is not") {
                bed.supabase.realtimeSessions.count == 1 && bed.supabase.realtimeSessions.isDisjoint(with: sessions)
            }
            try await bed.client(ann).setDocument("notes/a", ["n": 6])
            try await eventually("the number 6") { other.number == 6 }
            other.leave()
            try await eventually("the last socket is closed") { bed.supabase.realtimeSessions.isEmpty }
        }
    }

    @Test func `Where no web socket comes through, callers' streams poll the database, and not for hints`()
        async throws
    {
        try await Self.with(Bed(lookingEvery: .milliseconds(20))) { bed in
            bed.supabase.realtimeFaults.refusesWebSockets = true
            let reader = FollowedDocument("notes/a", on: try await bed.client(bed.caller("ann")))
            for number in 1...3 {
                try await bed.client(bed.caller("ben")).setDocument("notes/a", ["n": .of(number)])
                try await eventually("the number \(number)") { reader.number == Int64(number) }
            }
            #expect(bed.supabase.realtimeSessions.isEmpty)
            reader.leave()
        }
    }

    @Test func `Callers whose channels are refused poll, and the observer gets the reason`() async throws {
        try await Self.with(Bed(lookingEvery: .milliseconds(20))) { bed in
            _ = try await bed.supabase.database.run([
                PostgresStatement("drop policy switchyard_listen on realtime.messages")
            ])
            func notices() -> Int {
                bed.log.kinds.filter { if case .notice = $0 { true } else { false } }.count
            }
            let reader = FollowedDocument("notes/a", on: try await bed.client(bed.caller("ann")))
            try await eventually("the socket has joined in vain") { notices() == 1 }
            try await bed.client(bed.caller("ben")).setDocument("notes/a", ["n": 1])
            try await eventually("the document") { reader.number == 1 }
            reader.leave()
            try await eventually("the socket is closed") { bed.supabase.realtimeSessions.isEmpty }
            #expect(notices() == 1)
        }
    }

    @Test func `A stream ends with its token, and only its reader is notified`() async throws {
        try await Self.with(Bed(lookingEvery: .milliseconds(50))) { bed in
            let ann = bed.caller("ann")
            try await bed.client(ann).setDocument("notes/a", ["n": 1])
            let reader = FollowedDocument("notes/a", on: try await bed.client(ann))
            try await eventually("the document") { reader.number == 1 }
            try await eventually("the socket is open") { bed.supabase.realtimeSessions.count == 1 }
            bed.clock.advance(7200)
            try await eventually("the stream has ended") { reader.failure != nil }
            #expect(reader.failure?.code == .unauthenticated && reader.failure?.isRetryable == false)
            try await eventually("so has the socket") { bed.supabase.realtimeSessions.isEmpty }
            let newer = FollowedDocument("notes/a", on: try await bed.client(bed.caller("ann")))
            try await eventually("a newer token opens another one") { newer.number == 1 }
            newer.leave()
            #expect(bed.log.kinds.filter { if case .notice = $0 { true } else { false } }.isEmpty)
        }
    }

    @Test func `The project receives at once what users write, and what no user may read`() async throws {
        try await Self.with(Bed(lookingEvery: .seconds(3600))) { bed in
            let project = try await bed.backend.actingAsProject().storage
            let note = FollowedDocument("notes/a", on: project)
            let secret = FollowedDocument("secrets/a", on: try await bed.backend.actingAsProject().storage)
            try await eventually("the socket is open") { bed.supabase.realtimeSessions.count == 1 }
            for number in 1...3 {
                try await bed.client(bed.caller("ann")).setDocument("notes/a", ["n": .of(number)])
                try await eventually("the number \(number)") { note.number == Int64(number) }
                try await project.setDocument("secrets/a", ["n": .of(number)])
                try await eventually("the secret number \(number)") { secret.number == Int64(number) }
            }
            // One socket for all streams of the project; no one else's.
            #expect(bed.supabase.realtimeSessions.count == 1)
            #expect(try await !bed.client(bed.caller("ann")).document("secrets/a", from: .server).exists)
            note.leave()
            secret.leave()
            try await eventually("the socket is closed") { bed.supabase.realtimeSessions.isEmpty }
        }
    }

    @Test func `What is open when the server shuts down is closed`() async throws {
        try await Self.with(Bed(lookingEvery: .milliseconds(50))) { bed in
            let reader = FollowedDocument("notes/a", on: try await bed.client(bed.caller("ann")))
            try await eventually("the socket is open") { bed.supabase.realtimeSessions.count == 1 }
            await bed.backend.shutDown()
            try await eventually("the stream has ended") { reader.failure?.code == .shutDown }
            try await eventually("so has the socket") { bed.supabase.realtimeSessions.isEmpty }
        }
    }
}
