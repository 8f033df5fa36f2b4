import Foundation
import SwitchyardConformance
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

/// Whole clients on tables, whose server has neither a clock nor a ledger, and which rewrite, hide and sort rows in their own
/// way; see `EngineChaosTests`.
@Suite(.timeLimit(.minutes(60))) struct TableChaosTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seeds =
        environment["SWITCHYARD_TABLE_SEEDS"].flatMap { UInt64($0) } ?? RunSize.full(40, part: 8)
    private static let first = environment["SWITCHYARD_TABLE_SEED"].flatMap { UInt64($0) }

    @Test(arguments: first.map { $0...$0 } ?? 1...seeds)
    func `Clients of tables on a bad network end in the server's truth`(_ seed: UInt64) async throws {
        let simulation = try TableSimulation(seed: seed)
        try await simulation.run()
    }
}
