import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// The whole suite while the database behind the data service comes and goes, as real ones were seen to.
///
/// All outages are run with `SWITCHYARD_OUTAGES=all`, one of each kind in a full run, otherwise the first.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), .serialized)
struct OutageConformanceTests {
    struct Outage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// How many checks may fail: those with calls that no one may repeat.
        var mayFail = 0
        let add: @Sendable (FaultSwitches) -> [FaultSwitches.Rule]
    }

    private final class Calls: Sendable {
        private let count = Atomic(0)

        /// Whether it is the next call's turn, for every `period`th.
        func isNext(of period: Int, at place: Int = 0) -> Bool {
            count.wrappingAdd(1, ordering: .relaxed).newValue % period == place
        }
    }

    /// Answers every call for `length` of each `period` in this way.
    private static func inWindows(
        of length: Duration, every period: Duration, _ answers: [ServerResponse]
    ) -> @Sendable (FaultSwitches) -> [FaultSwitches.Rule] {
        { faults in
            let start = ContinuousClock.now
            let calls = Calls()
            return answers.indices.map { index in
                faults.add(.answer(answers[index]), times: nil) { request in
                    guard request.rawPath.hasPrefix("/rest/v1/") else { return false }
                    let time = start.duration(to: .now)
                    let phase = time - period * Int(time / period)
                    return phase > period - length
                        && (index == answers.count - 1 || calls.isNext(of: answers.count, at: index))
                }
            }
        }
    }

    /// Loses the answer to every `period`th call of any kind: one time the connection, the next the database behind it.
    private static func losing(every period: Int) -> @Sendable (FaultSwitches) -> [FaultSwitches.Rule] {
        { faults in
            [(0, Fault.dropAnswer(reset: true)), (period, LocalSupabase.losesDatabaseAfter)].map { place, fault in
                let calls = Calls()
                return faults.add(fault, times: nil) { request in
                    request.rawPath.hasPrefix("/rest/v1/") && calls.isNext(of: 2 * period, at: place)
                }
            }
        }
    }

    private static func answer(_ status: Int, _ body: String) -> ServerResponse {
        ServerResponse(status: status, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
    }

    private static let whole = [
        Outage(
            testDescription: "the database restarts again and again",
            add: inWindows(
                of: .seconds(0.4), every: .seconds(1.5),
                [
                    answer(400, #"{"code":"","details":null,"hint":null,"message":""}"#),
                    answer(
                        503,
                        #"{"code":"PGRST001","details":null,"hint":null,"message":"Database client error. Retrying the connection."}"#
                    ),
                    answer(500, #"{"code":"57P01","details":null,"hint":null,"message":"terminating connection"}"#),
                    answer(
                        503,
                        #"{"code":"PGRST002","details":null,"hint":null,"message":"Could not query the database for the schema cache. Retrying."}"#
                    ),
                ])),
        Outage(testDescription: "every twelfth answer is lost", mayFail: 7, add: losing(every: 12)),
        Outage(
            testDescription: "the data service is killed again and again",
            add: inWindows(
                of: .seconds(0.3), every: .seconds(1.2), [answer(502, "<html><body>502 Bad Gateway</body></html>")])),
        Outage(testDescription: "every fifth answer is lost", mayFail: 7, add: losing(every: 5)),
    ]

    private static let chosen =
        ProcessInfo.processInfo.environment["SWITCHYARD_OUTAGES"] == "all"
        ? whole : Array(whole.prefix(RunSize.full(2, part: 1)))

    private struct Harness: StorageHarness {
        let site: SupabaseSite
        var features: StorageFeatures { SupabaseHarness.features }

        func makeStorageClient() async throws -> any StorageClient { try site.client() }
    }

    private static let run: SideRun<String, Void> = SideRun(chosen.map(\.testDescription), width: 1) { name in
        for outage in chosen where outage.testDescription == name { try await check(outage) }
    }

    @Test(.beside(run), .timeLimit(.minutes(10)), arguments: chosen)
    func `Everything that can be repeated is repeated while`(_ outage: Outage) async throws {
        try await Self.run.value(of: outage.testDescription)
    }

    private static func check(_ outage: Outage) async throws {
        let site = try await SupabaseSite()
        let rules = outage.add(site.supabase.faults)
        let report = await runConformance([.storage(Harness(site: site))], width: 8)
        let strikes = rules.map { site.supabase.faults.strikes(of: $0) }.reduce(0, +)
        let failures = report.entries.filter { $0.outcome == .failed }.map { "\($0.name): \($0.detail ?? "")" }
        print("outage: \(outage.testDescription): \(report.summary), \(strikes) calls affected")
        for failure in failures { print("outage: failed: \(failure)") }
        #expect(strikes > 50)
        #expect(report.failed <= outage.mayFail, "\(failures.joined(separator: "\n"))")
        await site.stop()
    }
}
