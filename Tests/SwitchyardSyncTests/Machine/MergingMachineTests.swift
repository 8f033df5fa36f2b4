import Switchyard
import SwitchyardSync
import Testing

@Suite struct MergingMachineTests {
    @Test func `After a write that could not be saved, the one before it is merged only if it allows that`() throws {
        let store = FlakyStore(MemoryStore())
        let bench = try TestBench(over: store)
        bench.feed(.setNetwork(isEnabled: false))
        let time = Timestamp(microseconds: 1)
        bench.feed(.write(1, [try .set("rooms/a", ["n": 1])], at: time))
        store.failing = [.writeLocally]
        bench.feed(.writeMerging(2, [try .set("rooms/a", ["n": 2])], at: time))
        store.failing = []
        #expect(throws: StorageError.self) { try bench.answers[2]?.get() }
        bench.feed(.writeMerging(3, [try .set("rooms/a", ["n": 3])], at: time))
        bench.feed(.writeMerging(4, [try .set("rooms/a", ["n": 4])], at: time))
        // The first was not merged with anything, the third with the fourth.
        var added = 0
        var left = 0
        for change in bench.queueChanges {
            switch change {
            case .added: added += 1
            case .left: left += 1
            default: break
            }
        }
        #expect(added == 3 && left == 1)
    }
}
