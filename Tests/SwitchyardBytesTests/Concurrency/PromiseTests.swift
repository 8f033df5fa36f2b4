import SwitchyardBytes
import SwitchyardTestSupport
import Testing

@Suite struct PromiseTests {
    @Test func `Everybody who waits gets the first value, whenever they begin`() async {
        let promise = Promise<Int>()
        let early = (0..<3).map { _ in Task { await promise.value } }
        #expect(promise.present == nil)
        promise.resolve(1)
        promise.resolve(2)
        for waiter in early { #expect(await waiter.value == 1) }
        #expect(await promise.value == 1)
        #expect(promise.present == 1)
    }

    @Test func `Who is cancelled stops waiting, and no one else`() async {
        let promise = Promise<Int>()
        let impatient = Task { await promise.value }
        let patient = Task { await promise.value }
        impatient.cancel()
        #expect(await impatient.value == nil)
        promise.resolve(7)
        #expect(await patient.value == 7)
    }

    @Test func `A value that is there already reaches a cancelled task too`() async {
        let promise = Promise<Int>()
        promise.resolve(3)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await promise.value
        }
        task.cancel()
        #expect(await task.value == 3)
    }
}
