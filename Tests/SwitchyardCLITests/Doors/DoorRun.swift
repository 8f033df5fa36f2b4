import Foundation
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import Synchronization
import Testing

/// Both local servers in a process of their own, and clients that send them whatever they can think of.
final class DoorRun: Sendable {
    struct Outcome: Sendable {
        var requests = 0
        /// How many were answered with which status.
        var answers: [Int: Int] = [:]
        /// The systematic requests that there was no time for.
        var left = 0
        /// The last bytes of each worker, if the process has ended.
        var report = ""
    }

    /// `SWITCHYARD_DOOR_SECONDS=600` goes on for ten minutes.
    static let seconds =
        ProcessInfo.processInfo.environment["SWITCHYARD_DOOR_SECONDS"].flatMap { Int($0) }
        ?? RunSize.full(4, part: 2)
    /// `SWITCHYARD_FUZZ_SEED=7` makes each worker's requests those of another run.
    static let seed =
        ProcessInfo.processInfo.environment["SWITCHYARD_FUZZ_SEED"].flatMap { UInt64($0) }
        ?? UInt64.random(in: 0..<1_000_000)
    private static let doors: [DoorWorker.Door] = [
        .firebase, .supabase, .firebase, .supabase, .socket, .firebase, .supabase,
    ]

    let program: ToolRun
    private let variables: [String: String]

    /// Starts the servers.
    init(folder: URL) async throws {
        program = try ToolRun([
            "emulator", "all", "--folder", folder.path, "--phone-codes", "15555550100=123456",
        ])
        variables = try await program.variables(with: "SUPABASE_URL")
    }

    func prepare() async throws {
        let database = try #require(
            variables["SUPABASE_DB_URL"].flatMap { URL(string: $0)?.port }.flatMap { UInt16($0) })
        let connection = try await PostgresConnection(port: database, user: LocalPostgres.user, database: "postgres")
        defer { connection.close() }
        _ = try await connection.run(script: DoorRequest.supabaseScript)
    }

    /// Both doors, by their ports.
    private var ports: (firebase: UInt16, supabase: UInt16) {
        get throws {
            let firebase = try #require(
                variables["FIRESTORE_EMULATOR_HOST"]?.split(separator: ":").last.flatMap { UInt16($0) })
            let supabase = try #require(
                variables["SUPABASE_URL"].flatMap { URL(string: $0)?.port }.flatMap { UInt16($0) })
            return (firebase, supabase)
        }
    }

    /// Whether both still answer.
    func answers() throws -> Bool {
        let ports = try ports
        let questions = [
            (ports.firebase, "GET /"),
            (ports.supabase, "GET /rest/v1/door?limit=1\napikey: \(variables["SUPABASE_ANON_KEY"] ?? "")"),
        ]
        return questions.allSatisfy { port, question in
            _ = DoorSocket(port: port)?.exchange(DoorRequest(text: "DELETE /_faults").bytes([:]), within: 10_000)
            return DoorSocket(port: port)?.exchange(DoorRequest(text: question).bytes([:]), within: 10_000)?.status
                == 200
        }
    }

    func fuzz() async throws -> Outcome {
        let ports = try ports
        let secret = variables["SUPABASE_JWT_SECRET"] ?? ""
        let values = [
            "anon": variables["SUPABASE_ANON_KEY"] ?? "", "service": variables["SUPABASE_SERVICE_ROLE_KEY"] ?? "",
            "forged": Self.forged(with: secret),
        ]
        let workers = Self.doors.enumerated().map { index, door in
            let peers = Self.doors.indices.filter { Self.doors[$0] == door }
            return DoorWorker(
                door, port: door == .firebase ? ports.firebase : ports.supabase, values: values,
                seed: Self.seed &+ UInt64(index), number: peers.firstIndex(of: index) ?? 0, of: peers.count)
        }
        let deadline = ContinuousClock.now + .seconds(Self.seconds)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in workers { group.addTask { try await PlainClient.onThread { worker.run(until: deadline) } } }
            try await group.waitForAll()
        }
        var outcome = Outcome()
        for worker in workers {
            let sent = worker.sent.withLock { $0 }
            outcome.requests += sent.count
            outcome.answers.merge(sent.answers, uniquingKeysWith: +)
            outcome.left += worker.left
            if !program.isRunning {
                let last = sent.last.map { "    " + String(decoding: $0.prefix(2000), as: UTF8.self).debugDescription }
                outcome.report += "\(worker.door):\n" + last.joined(separator: "\n") + "\n"
            }
        }
        return outcome
    }

    /// A token of the project whose times are as far away as can be, for whom it may concern.
    private static func forged(with secret: String) -> String {
        let claims: JSONObject = [
            "sub": "eve", "role": "authenticated", "aud": ["authenticated"], "exp": .integer(.max),
            "iat": .integer(.min),
            "nbf": .integer(.min), "session_id": "1",
        ]
        let text = [["alg": "HS256", "typ": "JWT"], claims].map {
            Base64.encode(JSON.object($0).bytes(), alphabet: .url)
        }
        .joined(separator: ".")
        return text + "."
            + Base64.encode(HMACSHA256.code(for: Array(text.utf8), key: Array(secret.utf8)), alphabet: .url)
    }
}
