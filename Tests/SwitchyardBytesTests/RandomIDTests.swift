import SwitchyardBytes
import SwitchyardTestSupport
import Testing

struct RandomIDTests {
    @Test func `An identifier has twenty letters and digits, all of them in use`() {
        var generator = SeededGenerator(seed: 1)
        let ids = (0..<1000).map { _ in RandomID.make(using: &generator) }
        #expect(ids.allSatisfy { $0.utf8.count == 20 })
        let letters = Set(ids.joined())
        #expect(letters == Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"))
        #expect(Set(ids).count == 1000)
        #expect(Set((0..<100).map { _ in RandomID.make() }).count == 100)
        #expect(RandomID.make(length: 7).utf8.count == 7)
    }

    @Test func `A UUID is of version 4 and its variant`() throws {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<200 {
            let uuid = RandomID.uuid(using: &generator)
            #expect(uuid.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        }
        #expect(RandomID.uuid() != RandomID.uuid())
    }
}
