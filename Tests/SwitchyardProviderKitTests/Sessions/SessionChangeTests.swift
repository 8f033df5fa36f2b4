import Switchyard
import SwitchyardProviderKit
import Testing

@Suite struct SessionChangeTests {
    private let alice = SessionRecord.session(SessionSamples.session("a", revision: 3))
    private let bob = SessionRecord.session(SessionSamples.session("b", user: "bob"))
    private let out = SessionRecord.signedOut(SignOut(.byUser))
    private let fresh = SessionSamples.tokens("fresh")

    private func apply(_ kind: SessionChange.Kind, in id: String?, to record: SessionRecord) -> SessionRecord? {
        SessionChange(kind, in: id).applied(to: record)
    }

    @Test func `A sign-in takes the place of anything`() {
        let session = SessionSamples.session("new", user: "carol")
        for record in [.none, out, alice, bob] {
            #expect(apply(.begin(session), in: nil, to: record) == .session(session))
        }
    }

    @Test func `New tokens count for the session and the version they were made from`() {
        let renewed = apply(.renew(fresh, nil, revision: 3), in: "a", to: alice)?.session
        #expect(renewed?.tokens == fresh && renewed?.revision == 4)
        // What could not be saved made this version newer than the one on the device.
        #expect(apply(.renew(fresh, nil, revision: 5), in: "a", to: alice)?.session?.revision == 6)
        #expect(apply(.renew(fresh, nil, revision: 2), in: "a", to: alice) == nil)
        #expect(apply(.renew(fresh, nil, revision: 3), in: "a", to: bob) == nil)
        #expect(apply(.renew(fresh, nil, revision: 3), in: "a", to: out) == nil)
        #expect(apply(.renew(fresh, nil, revision: 3), in: "a", to: .none) == nil)
    }

    @Test func `Tokens of a session that is over do not bring it back`() {
        let expired = apply(.expire(revision: 3), in: "a", to: alice)
        #expect(expired?.session?.tokens == nil && expired?.session?.user.id == "alice")
        #expect(expired.flatMap { apply(.renew(fresh, nil, revision: 3), in: "a", to: $0) } == nil)
    }

    @Test func `A refusal of tokens that were replaced meanwhile ends nothing`() {
        #expect(apply(.expire(revision: 2), in: "a", to: alice) == nil)
        #expect(apply(.expire(revision: 3), in: "a", to: bob) == nil)
        #expect(apply(.expire(revision: 3), in: "a", to: out) == nil)
    }

    @Test func `A changed account keeps its tokens unless new ones came with it`() {
        let user = AuthUser(id: "alice", displayName: "Alice")
        let changed = apply(.update(user, nil, revision: 3), in: "a", to: alice)?.session
        #expect(changed?.user == user && changed?.tokens == alice.session?.tokens && changed?.revision == 3)
        let both = apply(.update(user, fresh, revision: 3), in: "a", to: alice)?.session
        #expect(both?.tokens == fresh && both?.revision == 4)
        #expect(apply(.update(user, fresh, revision: 3), in: "a", to: bob) == nil)
    }

    @Test func `A sign-out ends its own session, and adds its request where no user is signed in`() {
        let wipe = SignOut(.byUser, wipesLocalData: true)
        #expect(apply(.signOut(wipe), in: "a", to: alice) == .signedOut(wipe))
        #expect(apply(.signOut(wipe), in: "a", to: bob) == nil)
        #expect(apply(.signOut(wipe), in: nil, to: bob) == nil)
        #expect(apply(.signOut(wipe), in: nil, to: .none) == .signedOut(wipe))
        #expect(apply(.signOut(wipe), in: "a", to: out) == .signedOut(wipe))
        // What a server says about a session that was left by its user changes nothing.
        #expect(apply(.signOut(SignOut(.byServer)), in: "a", to: .signedOut(wipe)) == nil)
    }
}
