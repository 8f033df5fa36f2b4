/// Waits until the task is cancelled, for whatever has nothing else to wait for. Costs no time and no thread.
package func untilCancelled() async {
    let (events, continuation) = AsyncStream<Void>.makeStream()
    for await _ in events {}
    continuation.finish()
}
