#if os(Linux)
    import CSwitchyardLibraries

    // libcurl calls these on the loop thread, with the exchange as user pointer. The loop retains every running exchange, so
    // the pointer needs no reference.

    private func exchange(_ user: UnsafeMutableRawPointer?) -> CurlExchange {
        Unmanaged<CurlExchange>.fromOpaque(user!).takeUnretainedValue()
    }

    let receiveHeadLineCallback: ccurl_data_callback = { bytes, size, count, user in
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        // Returning any other count aborts the transfer.
        return exchange(user).receiveHeadLine(line) ? line.count : line.count + 1
    }

    let receiveBodyCallback: ccurl_data_callback = { bytes, size, count, user in
        let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
        let exchange = exchange(user)
        switch exchange.receiveBody(piece) {
        case .all: return piece.count
        case .abort: return piece.count + 1
        case .none:
            // libcurl keeps these bytes and offers them again.
            exchange.isReceivingPaused = true
            return CCURL_WRITE_PAUSE
        }
    }

    let produceBodyCallback: ccurl_data_callback = { bytes, size, count, user in
        let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
        let exchange = exchange(user)
        switch exchange.produceBody(into: buffer) {
        case .bytes(let count): return count
        case .end: return 0
        case .abort: return CCURL_READ_ABORT
        case .later:
            exchange.isSendingPaused = true
            return CCURL_READ_PAUSE
        }
    }

    let seekBodyCallback: ccurl_seek_callback = { user, offset, origin in
        // libcurl only ever seeks to the beginning.
        guard offset == 0, origin == 0, exchange(user).upload?.rewind() == true else {
            return Int32(CCURL_SEEK_FAIL)
        }
        return Int32(CCURL_SEEK_OK)
    }

    let willSendCallback: ccurl_prerequest_callback = { user, _, _, _, _ in
        Int32(exchange(user).willSend() ? CCURL_PREREQUEST_OK : CCURL_PREREQUEST_ABORT)
    }
#endif
