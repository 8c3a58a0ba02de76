-- Questions to a trace: memtrace export run.json --to sqlite -o run.db && sqlite3 -box run.db <queries.sql
-- Sizes are bytes, times are nanoseconds since the process began.

-- 1. Who held the peak, by line?
SELECT line, sum(bytes) AS bytes, sum(count) AS blocks
FROM peak_stacks JOIN peaks USING (peak) JOIN stacks USING (stack)
WHERE device = 0 AND pool IS NULL AND metric = 'allocated'
GROUP BY line ORDER BY bytes DESC, line LIMIT 10;

-- 2. How much of the peak passed through each Python function, itself or below?
SELECT function, sum(bytes) AS bytes
FROM (SELECT DISTINCT peak_stacks.stack, peak_stacks.bytes, function
      FROM peak_stacks JOIN peaks USING (peak) JOIN stack_frames USING (stack) JOIN frames USING (frame)
      WHERE device = 0 AND pool IS NULL AND metric = 'allocated' AND language = 'python')
GROUP BY function ORDER BY bytes DESC, function LIMIT 10;

-- 3. What is still allocated at the end, by line?
SELECT line, sum(size) AS bytes, count(*) AS blocks
FROM allocations JOIN stacks USING (stack)
WHERE kind = 'block' AND fate = 'live' AND NOT foreign_memory
GROUP BY line ORDER BY bytes DESC, line LIMIT 10;

-- 4. What was live in the middle of the run?
SELECT line, sum(size) AS bytes
FROM allocations JOIN stacks USING (stack)
WHERE kind = 'block' AND device = 0 AND NOT foreign_memory
  AND allocated_t <= (SELECT value / 2 FROM meta WHERE key = 'duration_ns')
  AND (freed_t IS NULL OR freed_t > (SELECT value / 2 FROM meta WHERE key = 'duration_ns'))
GROUP BY line ORDER BY bytes DESC, line LIMIT 10;

-- 5. Which lines make temporaries: many bytes that live for less than a millisecond?
SELECT line, count(*) AS blocks, sum(size) AS bytes, avg(freed_t - allocated_t) / 1000 AS mean_us
FROM allocations JOIN stacks USING (stack)
WHERE kind = 'block' AND freed_t - allocated_t < 1000000
GROUP BY line ORDER BY bytes DESC, line LIMIT 10;

-- 6. Which were the largest blocks, and how long did they live?
SELECT size, line, allocated_t / 1e9 AS allocated_s, (freed_t - allocated_t) / 1e9 AS lived_s
FROM allocations JOIN stacks USING (stack)
WHERE kind = 'block' ORDER BY size DESC, allocation LIMIT 10;

-- 7. What did each phase leave behind?
SELECT phases.name, count(*) AS blocks, sum(size) AS bytes
FROM phases JOIN allocations ON allocated_t BETWEEN start_t AND end_t AND (freed_t IS NULL OR freed_t > end_t)
WHERE kind = 'block' AND NOT foreign_memory
GROUP BY phase ORDER BY start_t;

-- 8. Which line frees what another one allocated?
SELECT made.line AS allocated_at, freed.line AS freed_at, count(*) AS blocks, sum(size) AS bytes
FROM allocations JOIN stacks AS made USING (stack) JOIN stacks AS freed ON freed.stack = freed_by
WHERE kind = 'block' AND made.line <> freed.line
GROUP BY made.line, freed.line ORDER BY bytes DESC, allocated_at, freed_at LIMIT 10;

-- 9. How are the sizes of allocations distributed, by powers of two?
SELECT 1 << power AS from_bytes, count(*) AS blocks, sum(size) AS bytes
FROM (SELECT size, (WITH RECURSIVE log(n, left) AS (SELECT 0, size UNION ALL SELECT n + 1, left >> 1 FROM log WHERE left > 1)
                    SELECT max(n) FROM log) AS power
      FROM allocations WHERE kind = 'block' AND size > 0)
GROUP BY power ORDER BY power;

-- 10. When did memory run out, for whom, and what was held then?
SELECT t / 1e9 AS at_s, size AS asked, line, allocated, reserved, error
FROM events LEFT JOIN stacks USING (stack) WHERE op = 'oom' ORDER BY seq;

-- 11. What did each kind of phase take, give back and keep?
SELECT name, count(*) AS times, max(allocated_peak) AS peak,
       sum(allocations_bytes) AS allocated, sum(freed_bytes) AS freed, sum(kept_bytes) AS kept
FROM phases WHERE allocations_bytes IS NOT NULL
GROUP BY name ORDER BY peak DESC, name;

-- 12. Which kernels and copies took the longest (MEMTRACE_CUPTI=1)?
SELECT kind, name, count(*) AS times, sum(ns) / 1e3 AS us, sum(coalesce(spans.bytes, 0)) AS bytes
FROM spans JOIN actions USING (action) WHERE device IS NOT NULL
GROUP BY kind, name ORDER BY us DESC, name LIMIT 10;
