import Foundation
import Switchyard
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// A device with a queue of increments, in processes that die while they send them.
struct IncrementingDevice: Codable, Sendable {
    private static let lost = UInt8(ascii: "l")

    private let port: Int
    private let project: String
    private let folder: String

    init(port: Int, project: String) {
        self.port = port
        self.project = project
        folder = ScratchSpace.url.appendingPathComponent("increments-\(UUID().uuidString)").path
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    private var answersFile: String { folder + "/answers" }

    /// How many answers to commits were lost on purpose, in all lives.
    var lostAnswers: Int {
        get throws { try Data(contentsOf: URL(fileURLWithPath: answersFile)).filter { $0 == Self.lost }.count }
    }

    private func client(_ transport: any Transport) async throws -> any StorageClient {
        let configuration = FirebaseConfiguration(
            project: project, apiKey: "test", writeLedger: "ledger",
            emulators: FirebaseConfiguration.Emulators(firestore: "127.0.0.1:\(port)"), usesEmulatorVariables: false)
        let module = FirebaseModule(configuration, environment: [:]) { transport }
        return try await module.makeStorageClient(
            ModuleContext(clock: ImpatientClock(), stateFolder: URL(fileURLWithPath: folder, isDirectory: true)))
    }

    /// What the server has in the end.
    struct Outcome: Sendable {
        let sum: [DocumentValue]
        let lostAnswers: Int
    }

    /// Queues increments, and sends them in processes of which all but the last are killed.
    static func sendAll(_ count: Int, lives: Int) async throws -> Outcome {
        let site = try await FirestoreSite()
        let device = IncrementingDevice(port: site.emulator.port, project: site.configuration.project)
        defer { device.remove() }
        try await device.queue(count)
        try await onSpareThreads {
            for _ in 0..<lives {
                try await #require(processExitsWith: .signal(SIGKILL)) {
                    [device = device as IncrementingDevice, count = count as Int] in
                    await device.run(diesAfter: count * 17 / 100)
                }
            }
            try await #require(processExitsWith: .success) { [device = device as IncrementingDevice] in
                await device.run(diesAfter: nil)
            }
        }
        let client = try await site.client()
        let sum = try await client.aggregate(Query(in: "counters"), [.sum("n")])
        await client.shutDown()
        return Outcome(sum: sum, lostAnswers: try device.lostAnswers)
    }

    /// Written while there is no network.
    func queue(_ count: Int) async throws {
        let client = try await client(CurlTransport())
        try await client.disableNetwork()
        for number in 0..<count {
            try await client.mergeDocument(CollectionPath("counters").document("c\(number % 7)"), ["n": .increment(1)])
        }
        await client.shutDown()
    }

    /// Sends what is queued; every third answer is lost.
    ///
    /// - Parameter limit: At this answer to a commit the process ends, as if its power were cut: the server has carried it
    ///   out, and no one here knows.
    func run(diesAfter limit: Int?) async {
        let answers = open(answersFile, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let received = Counter()
        let transport = LossyTransport(losesEvery: 3) { isLost in
            var letter = isLost ? Self.lost : UInt8(ascii: "c")
            _ = write(answers, &letter, 1)
            if received.next() == limit { kill(getpid(), SIGKILL) }
        }
        do {
            let client = try await client(transport)
            try await client.waitForPendingWrites()
            await client.shutDown()
        } catch {
            Issue.record(error)
        }
        close(answers)
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }
}
