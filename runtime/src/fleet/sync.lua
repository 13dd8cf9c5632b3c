-- What the store makes of one question: who is gone, who holds what, and how much each limit leaves for whoever asks.
-- The rule is argued in `mod.rs`; `grant.rs` is the same in Rust, line by line, and a test holds the two equal.
--
-- KEYS: members (by the end of their lease), leases (by process), sums (by limit; the empty name is the book).
-- ARGV: process, number, lease, dice, leaves, then of each limit its name, whole, held, want.

local members, leases, sums = KEYS[1], KEYS[2], KEYS[3]
local process, number, lease, dice = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]) / 1000000
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local HIGHEST, GONE_AT_ONCE, GOLDEN = 31, 50, 0.6180339887498949

local loaded = {}
local function sum_of(limit)
    if not loaded[limit] then
        local kept = redis.call('HGET', sums, limit)
        loaded[limit] = kept and cmsgpack.unpack(kept)
            or { given = 0, holders = 0, whole = 0, heard = 0, short = 0, count = {}, want = {} }
    end
    return loaded[limit]
end

-- Wants are counted by their length in bits: a limit's state then does not grow with the processes.
local function bits(want)
    local length = 0
    while want > 0 do
        want = math.floor(want / 2)
        length = length + 1
    end
    return math.min(length, HIGHEST)
end

local function count(sum, want, by)
    local at = bits(want)
    local counted = (sum.count[at] or 0) + by
    if counted == 0 then
        sum.count[at], sum.want[at] = nil, nil
    else
        sum.count[at], sum.want[at] = counted, (sum.want[at] or 0) + by * want
    end
    sum.holders = sum.holders + by
end

local function forget(gone)
    local kept = redis.call('HGET', leases, gone)
    if kept then
        for limit, held in pairs(cmsgpack.unpack(kept).held) do
            local sum = sum_of(limit)
            sum.given = sum.given - held[2]
            count(sum, held[1], -1)
        end
        redis.call('HDEL', leases, gone)
    end
    redis.call('ZREM', members, gone)
end

local function write()
    for limit, sum in pairs(loaded) do
        if sum.holders == 0 then
            redis.call('HDEL', sums, limit)
        else
            redis.call('HSET', sums, limit, cmsgpack.pack(sum))
        end
    end
end

-- The level up to which wants are met, or up to which they are filled: true and the one where there is not enough for all.
local function level(sum, whole)
    local total = 0
    for at = 0, HIGHEST do
        total = total + (sum.want[at] or 0)
    end
    local counted, wanted = 0, 0
    if total > whole then
        for at = 0, HIGHEST do
            local here = sum.count[at]
            if here then
                local left = sum.holders - counted
                if wanted + sum.want[at] / here * left >= whole then
                    return true, (whole - wanted) / left
                end
                counted, wanted = counted + here, wanted + sum.want[at]
            end
        end
        return true, whole
    end
    local filled = 0
    for at = 0, HIGHEST do
        local here = sum.count[at]
        if here then
            if counted > 0 and filled <= sum.want[at] / here then
                return false, filled
            end
            counted, wanted = counted + here, wanted + sum.want[at]
            filled = (whole - total + wanted) / counted
        end
    end
    return false, filled
end

-- Nobody has a lease: a store that is new, was emptied, or was away for longer than any lease. Nothing in it says what
-- those hold who have not asked yet.
local live = redis.call('ZCOUNT', members, '(' .. now, '+inf')
local book
if live == 0 then
    redis.call('DEL', members, leases, sums)
    book = { born = now, settled = now + lease }
else
    local kept = redis.call('HGET', sums, '')
    book = kept and cmsgpack.unpack(kept) or { born = now, settled = now + lease }
    book.settled = math.max(book.settled, book.born + lease)
end

local kept = redis.call('HGET', leases, process)
local mine = kept and cmsgpack.unpack(kept) or { number = -1, held = {} }
if number <= mine.number then
    return redis.error_reply('LATE question ' .. number .. ' after ' .. mine.number)
end
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', members, '-inf', now, 'LIMIT', 0, GONE_AT_ONCE)) do
    if gone == process then
        mine = { number = -1, held = {} }
    end
    forget(gone)
end
if ARGV[5] == '1' then
    forget(process)
    write()
    return { redis.call('ZCOUNT', members, '(' .. now, '+inf'), 0, 0 }
end

local settled, held, answer = now >= book.settled, {}, { 0, 0, 0 }
for at = 6, #ARGV, 4 do
    local limit, whole = ARGV[at], tonumber(ARGV[at + 1])
    local holds, want = tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
    local sum, before = sum_of(limit), mine.held[limit]
    local given = 0
    if before then
        given = before[2]
        count(sum, before[1], -1)
        mine.held[limit] = nil
    end
    count(sum, want, 1)
    -- Of two who disagree about the whole, the smaller holds for as long as it is heard.
    if sum.whole == 0 or whole <= sum.whole or now - sum.heard >= lease then
        sum.whole, sum.heard = whole, now
    end
    whole = sum.whole
    local free = math.max(whole - (sum.given - given), 0)
    local honoured = math.min(holds, free)
    local scarce, height = level(sum, whole)
    local turn = dice
    if height < 1 then
        turn = dice + math.floor(now / lease) * GOLDEN
        turn = turn - math.floor(turn)
    end
    local target = math.floor(height + turn)
    if scarce then
        target = math.min(want, target)
    else
        target = math.min(math.max(want, target), whole)
    end
    local share = target
    if target > honoured then
        share = settled and math.min(target, free) or honoured
    end
    if share < math.min(want, math.floor(height)) then
        sum.short = now
    end
    if share < holds and now - sum.short < lease then
        answer[3] = 1
    end
    local kept = math.max(share, honoured)
    sum.given = sum.given - given + kept
    held[limit] = { want, kept }
    answer[#answer + 1] = share
end
-- What was held before and is not named any more has been given back.
for limit, before in pairs(mine.held) do
    local sum = sum_of(limit)
    sum.given = sum.given - before[2]
    count(sum, before[1], -1)
end
redis.call('ZADD', members, now + lease, process)
redis.call('HSET', leases, process, cmsgpack.pack({ number = number, held = held }))
redis.call('HSET', sums, '', cmsgpack.pack(book))
write()
for _, key in ipairs(KEYS) do
    redis.call('PEXPIRE', key, 60000 + 10 * lease)
end
answer[1] = redis.call('ZCOUNT', members, '(' .. now, '+inf')
answer[2] = settled and 1 or 0
return answer
