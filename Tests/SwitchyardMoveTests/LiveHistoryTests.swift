import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@testable import SwitchyardMove

/// Random histories of several devices during a move: in the end both sides hold what one backend would hold.
@Suite struct LiveHistoryTests {
    @Test func `After any history both sides are equal, nothing is lost and nothing counts twice`() async throws {
        let count = Self.number("SWITCHYARD_LIVE_SEEDS") ?? (Self.isFull ? 200 : 40)
        for seed in Self.firstSeed..<Self.firstSeed + UInt64(count) {
            await check(seed) { try await LiveBed() }
        }
    }

    enum Pair: String, CaseIterable, Sendable {
        case mockToFirebase, firebaseToMock, mockToSupabase, supabaseToMock, firebaseToSupabase, supabaseToFirebase
        case firebaseToTables, tablesToFirebase

        var needsPostgres: Bool { self != .mockToFirebase && self != .firebaseToMock }
    }

    /// All, or the one that is asked for.
    private static func pairs(onPostgres: Bool) -> [Pair] {
        let name = ProcessInfo.processInfo.environment["SWITCHYARD_LIVE_PAIR"]
        return Pair.allCases.filter { $0.needsPostgres == onPostgres && (name ?? $0.rawValue) == $0.rawValue }
    }

    @Test(arguments: pairs(onPostgres: false))
    func `The same on a local Firebase`(pair: Pair) async throws { try await check(pair) }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), arguments: pairs(onPostgres: true))
    func `The same on a local Supabase`(pair: Pair) async throws { try await check(pair) }

    private func check(_ pair: Pair) async throws {
        let end = ContinuousClock.now + .seconds(Self.number("SWITCHYARD_LIVE_SECONDS") ?? (Self.isFull ? 5 : 3))
        var seed = Self.firstSeed
        repeat {
            await check(seed) {
                switch pair {
                case .mockToFirebase: try await LiveBed(new: .firebase())
                case .firebaseToMock: try await LiveBed(old: .firebase())
                case .mockToSupabase: try await LiveBed(new: .supabase())
                case .supabaseToMock: try await LiveBed(old: .supabase())
                case .firebaseToSupabase: try await LiveBed(old: .firebase(), new: .supabase())
                case .supabaseToFirebase: try await LiveBed(old: .supabase(), new: .firebase())
                case .firebaseToTables: try await LiveBed(old: .firebase(), new: .supabase(hasTable: true))
                case .tablesToFirebase: try await LiveBed(old: .supabase(hasTable: true), new: .firebase())
                }
            }
            seed += 1
        } while ContinuousClock.now < end
    }

    private func check(_ seed: UInt64, _ bed: () async throws -> LiveBed) async {
        do {
            try await LiveHistory(seed: seed).run(try await bed())
        } catch {
            Issue.record("seed \(seed): \(error)")
        }
    }

    private static var isFull: Bool { ProcessInfo.processInfo.environment["SWITCHYARD_FULL"] == "1" }
    private static var firstSeed: UInt64 { UInt64(number("SWITCHYARD_LIVE_SEED") ?? 0) }
    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }
}

/// One history. What is counted: increments, elements of an array, documents with names of their own, and the last value that each
/// device wrote to a field of its own.
struct LiveHistory {
    let seed: UInt64

    private struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    private struct Expected {
        var count: Int64 = 0
        var elements: Set<String> = []
        var documents: Set<String> = []
        var deleted: Set<String> = []
        var last: [Int: Int64] = [:]
    }

    func run(_ bed: LiveBed) async throws {
        var random = SeededGenerator(seed: seed)
        var devices: [LiveBed.Device] = []
        for _ in 0..<3 { devices.append(try await bed.device()) }
        try await devices[0].storage.setDocument("counters/c", ["n": 0]).acknowledged()
        for device in devices { _ = try await device.storage.document("counters/c") }
        var expected = Expected()
        var tasks: [Task<Bool, Never>] = []
        bed.start()
        var phase = MovePhase.dualWrite
        var trace: [String] = []
        for step in 0..<random.int(20..<60) {
            let index = random.int(0..<3)
            let device = devices[index]
            let action = random.int(0..<14)
            trace.append(
                "\(step): d\(index) \(action) \(devices.map { "\($0.moving.serving)\($0.network.isOnline ? "" : "-")" })"
            )
            switch action {
            case 0, 1, 2:
                try await device.storage.updateDocument("counters/c", ["n": .increment(1)])
                expected.count += 1
            case 3, 4:
                let name = "\(seed)-\(step)"
                try await device.storage.mergeDocument("counters/a", ["all": .arrayUnion(.string(name))])
                expected.elements.insert(name)
            case 5, 6:
                let name = "items/\("d\(step)")"
                var batch = WriteBatch()
                try batch.set(StoragePath(validating: name), ["step": .of(step)])
                try batch.merge("counters/last", ["d\(index)": .of(step)])
                try await device.storage.commit(batch)
                expected.documents.insert(name)
                expected.last[index] = Int64(step)
            case 7:
                guard let name = expected.documents.sorted().first, device.network.isOnline else { break }
                // Its creation may still be on its way from another device.
                for device in devices where device.network.isOnline { try await device.storage.waitForPendingWrites() }
                guard devices.allSatisfy(\.network.isOnline) else { break }
                try await bed.carriedOnce()
                try await device.storage.deleteDocument(StoragePath(validating: name))
                expected.documents.remove(name)
                expected.deleted.insert(name)
            case 8:
                guard device.network.isOnline else { break }
                // It fails if the connection is lost meanwhile.
                tasks.append(
                    Task {
                        do {
                            try await device.storage.transaction(TransactionOptions(maximumAttempts: 50)) {
                                transaction in
                                let n = try await transaction.document("counters/c")["n"]?.integerValue ?? 0
                                try await transaction.merge("counters/c", ["n": .of(n + 1)])
                            }
                            return true
                        } catch {
                            return false
                        }
                    })
            case 9: try await device.setOnline(!device.network.isOnline)
            case 10, 11:
                phase = random.pick([.dualWrite, .shadowRead, .cutOver])
                try await bed.live.request(phase)
                trace.append("-> \(phase)")
            case 12:
                await bed.stop()
                if random.int(0..<2) == 0 { bed.start() }
            // Nothing is waited for: what runs beside gets a random time.
            default: try await Task.sleep(for: .microseconds(random.int(0..<3000)))
            }
        }
        // Transactions need a connection, and the process that carries.
        for device in devices { try await device.setOnline(true) }
        await bed.stop()
        bed.start()
        // Without a connection, the answer of a server may be lost: then it is not known whether the transaction took effect.
        var unknown: Int64 = 0
        for task in tasks {
            if await task.value { expected.count += 1 } else if devices[0].switchesClient { unknown += 1 }
        }
        phase = random.pick([.dualWrite, .shadowRead, .cutOver])
        do { try await bed.reach(phase) } catch { throw Failure("\(error); \(try await bed.live.status())") }
        try await eventually("all devices use the side that serves") {
            devices.allSatisfy { $0.moving.serving == phase.serving }
        }
        try await bed.settle(devices)
        let (old, new) = (
            try await bed.old.documents(["items", "counters"]),
            try await bed.new.documents(["items", "counters"])
        )
        #expect(old == new, "seed \(seed)")
        let found = new["counters/c"]?["n"]?.integerValue
        #expect(
            expected.count...expected.count + unknown ~= found ?? -1, "seed \(seed): \(trace.joined(separator: "\n"))")
        let elements = (new["counters/a"]?["all"]?.arrayValue ?? []).compactMap(\.stringValue)
        #expect(Set(elements) == expected.elements && elements.count == expected.elements.count, "seed \(seed)")
        #expect(Set(new.keys.filter { $0.hasPrefix("items/") }) == expected.documents, "seed \(seed)")
        for (index, step) in expected.last {
            #expect(new["counters/last"]?[FieldPath(stringLiteral: "d\(index)")] == .integer(step), "seed \(seed)")
        }
        for (index, device) in devices.enumerated() {
            for try await refused in device.storage.refusedWrites() {
                #expect(refused.isEmpty, "seed \(seed): device \(index)")
                break
            }
        }
        let status = try await bed.live.status()
        #expect(status.conflicts.isEmpty, "seed \(seed): \(status)")
        await bed.end(devices)
    }
}

extension LiveBed {
    /// Waits until what is in the logs now has been carried, if a process runs.
    fileprivate func carriedOnce() async throws {
        guard isRunning else { return }
        try await settle()
    }
}
