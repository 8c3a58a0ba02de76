/* The second of two libraries that define next_answer(): the end of the chain. */

int next_answer(int depth);

int next_answer(int depth)
{
	(void)depth;
	return 41;
}
