import Switchyard
import SwitchyardBytes
import Testing

@testable import SwitchyardLocalFirebase

/// Two names that look alike, and that Swift takes for equal, are two names for the rules and lists.
@Suite struct LocalNamesTests {
    private let composed = "caf\u{E9}"
    private let decomposed = "cafe\u{301}"

    @Test(arguments: [false, true])
    func `A user whose ID only looks like another's may not write what is theirs`(hasDomain: Bool) {
        let rules = LocalRules(isOpen: false, hasDomain: hasDomain)
        let path = StoragePath("users", composed)
        for (id, isAllowed) in [(composed, true), (decomposed, false)] {
            let caller = LocalCaller.user(id: id, claims: [:])
            #expect(
                rules.allow(.write, of: caller, at: path, data: nil, newData: ["n": 1], in: LocalDocuments())
                    == isAllowed)
            let query = Query(in: CollectionPath("users", composed, "todos"))
            #expect(rules.allow(query, of: caller, in: LocalDocuments()) == isAllowed)
            #expect(rules.allow(.write, of: caller, file: ["users", composed, "a.txt"]) == isAllowed)
        }
    }

    @Test func `Collections whose names look alike are listed both`() {
        var documents = LocalDocuments()
        for name in [composed, decomposed] {
            documents.store(.existing(StoragePath(name, "a"), ["n": 1], updateTime: Timestamp(microseconds: 1)))
        }
        #expect(documents.collectionIDs(below: nil).count == 2)
    }
}
