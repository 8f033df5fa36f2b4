import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// A table of accounts as the service pages through it, in which accounts come and go before each answer.
private final class ChangingAccounts: Sendable {
    struct Account: Hashable {
        var moment: Int64
        var id: String
    }

    private struct State {
        var random: SeededGenerator
        var accounts: [Account] = []
        var deleted: Set<String> = []
        var nextID = 0
        var now: Int64 = 1_000_000
        /// How many more times something happens: a walk ends only when less is made than is shown.
        var changes: Int
        var largest = 0
    }

    private let state: Mutex<State>
    let founders: Set<String>

    init(seed: UInt64, count: Int, changes: Int) {
        var state = State(random: SeededGenerator(seed: seed), changes: changes)
        for _ in 0..<count { Self.add(&state) }
        founders = Set(state.accounts.map(\.id))
        self.state = Mutex(state)
    }

    var deleted: Set<String> { state.withLock { $0.deleted } }
    /// The largest page that was asked for.
    var largest: Int { state.withLock { $0.largest } }

    /// Mostly a moment later; scripts make many in one moment.
    private static func add(_ state: inout State) {
        if !state.random.chance(40) { state.now += 1 }
        let isImported = state.random.chance(3)
        state.nextID += 1
        state.accounts.append(
            Account(
                moment: isImported ? Int64(state.random.int(1..<1_000_000)) : state.now,
                id: "\(state.random.next() % 1000)-\(state.nextID)"))
    }

    private static func change(_ state: inout State) {
        guard state.changes > 0 else { return }
        state.changes -= 1
        switch state.random.int(0..<10) {
        case 0...3: for _ in 0..<state.random.int(1..<6) { add(&state) }
        case 4...7:
            for _ in 0..<state.random.int(1..<6) where !state.accounts.isEmpty {
                let index = state.random.int(0..<state.accounts.count)
                state.deleted.insert(state.accounts.remove(at: index).id)
            }
        case 8:
            // Someone tidies up among the oldest.
            state.accounts.sort { $0.moment < $1.moment }
            let count = state.random.int(0..<max(1, state.accounts.count / 2))
            state.deleted.formUnion(state.accounts.prefix(count).map(\.id))
            state.accounts.removeFirst(count)
        default: break
        }
    }

    func answer(_ size: Int, _ number: Int) -> [JSON] {
        state.withLock { state in
            Self.change(&state)
            state.largest = max(state.largest, size)
            // Within a moment the order is another one each time.
            var random = state.random
            state.accounts.shuffle(using: &random)
            state.random = random
            let sorted = state.accounts.sorted { $0.moment < $1.moment }
            return sorted.dropFirst(size * (number - 1)).prefix(size).map { account in
                let moment = RFC3339.Moment(
                    seconds: account.moment / 1_000_000, nanoseconds: Int32(account.moment % 1_000_000) * 1000)
                return ["id": .string(account.id), "created_at": .string(RFC3339.format(moment))]
            }
        }
    }
}

@Suite struct SupabaseAdminWalkTests {
    /// What one walk has shown, in order.
    private func walk(_ accounts: ChangingAccounts, limit: () -> Int) async throws(AuthError) -> [String] {
        let walk = AccountListing { size, number throws(AuthError) in accounts.answer(size, number) }
        var shown: [String] = []
        var cursor: AccountCursor?
        repeat {
            let limit = limit()
            // By way of the text that is stored between processes.
            var place: AccountListing.Place?
            if let cursor { place = try AccountListing.Place(cursor) }
            let page = try await walk.page(after: place, limit: limit)
            #expect(page.rows.count <= limit)
            shown += page.rows.map(\.id)
            cursor = page.next?.cursor
        } while cursor != nil
        return shown
    }

    @Test(arguments: 0..<300)
    func `Pages skip no one and show no one twice, whoever comes and goes between answers`(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let accounts = ChangingAccounts(
            seed: UInt64(seed) &+ 1000, count: random.int(0..<200), changes: random.int(0..<120))
        let size = random.int(1..<30)
        let changesSize = random.chance(30)
        let shown = try await walk(accounts) { changesSize ? random.int(1..<30) : size }
        #expect(Set(shown).count == shown.count, "no one twice")
        let stayed = accounts.founders.subtracting(accounts.deleted)
        #expect(stayed.subtracting(shown).isEmpty, "everybody who was there all the time")
    }

    @Test func `Thousands of one moment are shown once each`() async throws {
        let moment = RFC3339.format(RFC3339.Moment(seconds: 1_800_000_000, nanoseconds: 0))
        let random = Mutex(SeededGenerator(seed: 7))
        let walk = AccountListing { size, number throws(AuthError) in
            let ids = random.withLock { random in (0..<2500).shuffled(using: &random) }
            return ids.dropFirst(size * (number - 1)).prefix(size).map {
                ["id": .string("\($0)"), "created_at": .string(moment)]
            }
        }
        var shown: [String] = []
        var place: AccountListing.Place?
        repeat {
            let page = try await walk.page(after: place, limit: 400)
            shown += page.rows.map(\.id)
            place = page.next
        } while place != nil
        #expect(shown.count == 2500 && Set(shown).count == 2500)
    }

    @Test func `Where nothing changes a page costs one answer`() async throws {
        let asked = Mutex(0)
        let walk = AccountListing { size, number throws(AuthError) in
            asked.withLock { $0 += 1 }
            return (0..<10_000).dropFirst(size * (number - 1)).prefix(size).map { index in
                let moment = RFC3339.Moment(seconds: Int64(index), nanoseconds: 0)
                return ["id": .string("\(index)"), "created_at": .string(RFC3339.format(moment))]
            }
        }
        for (limit, most) in [(1000, 12), (500, 24), (50, 202), (1, 1)] {
            asked.withLock { $0 = 0 }
            var count = 0
            var place: AccountListing.Place?
            repeat {
                let page = try await walk.page(after: place, limit: limit)
                count += page.rows.count
                place = limit == 1 ? nil : page.next
            } while place != nil
            #expect(count == (limit == 1 ? 1 : 10_000))
            #expect(asked.withLock { $0 } <= most, "pages of \(limit)")
        }
    }

    @Test func `A window begins at or before what it is to have, and has as much of it as a page can`() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<2000 {
            let (start, count) = (random.int(0..<100_000), random.int(2..<1000))
            let (size, number) = AccountListing.window(from: start, count: count)
            let (first, end) = (size * (number - 1), size * number)
            #expect(first <= start && size <= 1000)
            #expect(end - start >= min(count, 500), "from \(start), \(count) of them")
        }
    }

    @Test func `A server that sorts otherwise, or says nothing of the time, is not believed`() async throws {
        for rows: [JSON] in [
            [
                ["id": "a", "created_at": "2026-01-02T00:00:00Z"], ["id": "b", "created_at": "2026-01-01T00:00:00Z"],
            ], [["id": "a"]],
        ] {
            let error = await #expect(throws: AuthError.self) {
                _ = try await AccountListing { _, _ throws(AuthError) in rows }.page(after: nil, limit: 10)
            }
            #expect(error?.code == .unavailable)
        }
    }

    @Test func `A server that has the same page for every number does not hold a walk for ever`() async throws {
        let rows = (0..<1000).map { index -> JSON in
            let moment = RFC3339.Moment(seconds: Int64(index), nanoseconds: 0)
            return ["id": .string("\(index)"), "created_at": .string(RFC3339.format(moment))]
        }
        let place = AccountListing.Place(moment: Timestamp(microseconds: 4_000_000_000_000_000), id: "z", index: 500)
        let asked = Mutex(0)
        let error = await #expect(throws: AuthError.self) {
            _ = try await AccountListing { size, _ throws(AuthError) in
                asked.withLock { $0 += 1 }
                return Array(rows.prefix(size))
            }.page(after: place, limit: 10)
        }
        #expect(error?.code == .unavailable && asked.withLock { $0 } <= 1000)
    }

    @Test(arguments: ["", "x", "2026-01-01T00:00:00Z/3", "2026-01-01T00:00:00Z/-1/a", "now/1/a", "a/b/c/d"])
    func `What is no cursor of these is refused`(text: String) {
        #expect(throws: AuthError.self) { try AccountListing.Place(AccountCursor(rawValue: text)) }
    }
}
